package index

import (
	"cmp"
	"iter"
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Table has the values of the objects of one kind by key. It is safe for concurrent use: a read sees all values of an
// object that it had at one time, or none. Values are shared: if they are pointers or maps, don't change what is in
// them. newTable makes a Table.
type Table[K comparable, V any] struct {
	kind    schema.GroupVersionKind
	mu      sync.RWMutex
	objects map[types.NamespacedName]*object[K]
	rows    map[K]*row[K, V]
}

// object is an object that has values, and the places where they are.
type object[K comparable] struct {
	name   types.NamespacedName
	uid    types.UID
	places []place[K]
}

// place is where a value of an object is: in the row of key, at that index.
type place[K comparable] struct {
	key K
	at  int
}

// row has the values of one key.
type row[K comparable, V any] struct {
	cells []cell[K, V]
	// unsorted: the cells aren't in the order of their objects.
	unsorted bool
}

// cell is a value of an object: that of places[place].
type cell[K comparable, V any] struct {
	object *object[K]
	place  int
	value  V
}

func newTable[K comparable, V any](kind schema.GroupVersionKind) *Table[K, V] {
	return &Table[K, V]{kind: kind, objects: map[types.NamespacedName]*object[K]{}, rows: map[K]*row[K, V]{}}
}

// Get returns the values of all objects that have the key, ascending by namespace and name of the objects; nil if there
// are none.
func (t *Table[K, V]) Get(key K) []V {
	var values []V
	t.read(key, func(cells []cell[K, V]) {
		values = make([]V, 0, len(cells))
		for _, c := range cells {
			values = append(values, c.value)
		}
	})
	return values
}

// Objects returns the objects that have the key and their values, ascending by namespace and name. The values are those
// at the time of the call; the table may change while they are read.
func (t *Table[K, V]) Objects(key K) iter.Seq2[deploy.Ref, V] {
	var found []cell[K, V]
	t.read(key, func(cells []cell[K, V]) { found = slices.Clone(cells) })
	return func(yield func(deploy.Ref, V) bool) {
		for _, c := range found {
			ref := deploy.Ref{Kind: t.kind, Namespace: c.object.name.Namespace, Name: c.object.name.Name}
			if !yield(ref, c.value) {
				return
			}
		}
	}
}

// Keys returns the keys that have values, in no order.
func (t *Table[K, V]) Keys() []K {
	t.mu.RLock()
	defer t.mu.RUnlock()
	keys := make([]K, 0, len(t.rows))
	for key := range t.rows {
		keys = append(keys, key)
	}
	return keys
}

// Len returns the number of keys that have values.
func (t *Table[K, V]) Len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.rows)
}

// read calls f with the sorted cells of a key, if there are any. A row is sorted by the first read after a change.
func (t *Table[K, V]) read(key K, f func(cells []cell[K, V])) {
	t.mu.RLock()
	r := t.rows[key]
	if r == nil || !r.unsorted {
		defer t.mu.RUnlock()
		if r != nil {
			f(r.cells)
		}
		return
	}
	t.mu.RUnlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if r = t.rows[key]; r != nil {
		r.sort()
		f(r.cells)
	}
}

// set replaces the values of an object. Without values the object is removed.
func (t *Table[K, V]) set(name types.NamespacedName, uid types.UID, values map[K]V) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.objects[name]
	if o != nil && holds(o, values) {
		o.uid = uid
		for _, p := range o.places {
			t.rows[p.key].cells[p.at].value = values[p.key]
		}
		return
	}
	t.remove(o)
	if len(values) == 0 {
		return
	}
	o = &object[K]{name: name, uid: uid, places: make([]place[K], 0, len(values))}
	t.objects[name] = o
	for key, value := range values {
		r := t.rows[key]
		if r == nil {
			r = &row[K, V]{}
			t.rows[key] = r
		}
		o.places = append(o.places, place[K]{key, len(r.cells)})
		r.add(cell[K, V]{o, len(o.places) - 1, value})
	}
}

// clear removes all objects.
func (t *Table[K, V]) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.objects, t.rows = map[types.NamespacedName]*object[K]{}, map[K]*row[K, V]{}
}

// uidOf returns the uid of an object, empty if it has no values.
func (t *Table[K, V]) uidOf(name types.NamespacedName) types.UID {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if o := t.objects[name]; o != nil {
		return o.uid
	}
	return ""
}

// remove removes an object and its values; nil is no object.
func (t *Table[K, V]) remove(o *object[K]) {
	if o == nil {
		return
	}
	delete(t.objects, o.name)
	for _, p := range o.places {
		r := t.rows[p.key]
		if r.remove(p.at); len(r.cells) == 0 {
			delete(t.rows, p.key)
		}
	}
}

func (r *row[K, V]) add(c cell[K, V]) {
	if n := len(r.cells); n > 0 && compare(r.cells[n-1], c) > 0 {
		r.unsorted = true
	}
	r.cells = append(r.cells, c)
}

// remove removes the cell at an index, and puts the last one there.
func (r *row[K, V]) remove(at int) {
	last := len(r.cells) - 1
	if at != last {
		r.cells[at] = r.cells[last]
		r.cells[at].settle(at)
		r.unsorted = true
	}
	clear(r.cells[last:])
	r.cells = r.cells[:last]
	if cap(r.cells) > 32 && cap(r.cells) > 4*last {
		r.cells = slices.Clip(slices.Clone(r.cells)) // a row that was large doesn't hold its memory
	}
}

func (r *row[K, V]) sort() {
	if !r.unsorted {
		return
	}
	slices.SortFunc(r.cells, compare)
	for at, c := range r.cells {
		c.settle(at)
	}
	r.unsorted = false
}

// settle tells the object that the cell is at this index of its row now.
func (c cell[K, V]) settle(at int) { c.object.places[c.place].at = at }

func compare[K comparable, V any](a, b cell[K, V]) int {
	return cmp.Or(cmp.Compare(a.object.name.Namespace, b.object.name.Namespace), cmp.Compare(a.object.name.Name, b.object.name.Name))
}

// holds reports whether an object has values for exactly these keys.
func holds[K comparable, V any](o *object[K], values map[K]V) bool {
	if len(o.places) != len(values) {
		return false
	}
	for _, p := range o.places {
		if _, has := values[p.key]; !has {
			return false
		}
	}
	return true
}
