package deploy

import (
	"hash/maphash"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// wholes are the maps and lists that are owned as a whole, "atomic" as their schemas say, such as the selector of a
// Service. Of these managedFields have nothing but the path, and that is also what is left of another map when others have
// taken or removed all of its entries: which of both it is only the content tells. What the content of one object has shown
// holds for its kind, as long as the Manager lives. The zero value is ready for use.
type wholes struct {
	mu    sync.RWMutex
	known map[whole]bool
	// shown are kinds of which the content of an object was seen.
	shown map[schema.GroupVersionKind]bool
}

// whole is a path of a kind, by a number; the items of a list are one.
type whole struct {
	kind schema.GroupVersionKind
	path uint64
}

// maxWholes bounds what is remembered: names of entries of free maps are paths, too.
const maxWholes = 1 << 14

var wholeSeed = maphash.MakeSeed()

// itemPath stands for the key of a list's item.
const itemPath = "[]"

// pathBelow is the number of the path of a field, or of an item, below another one.
func pathBelow(path uint64, name string) uint64 {
	return maphash.Comparable(wholeSeed, struct {
		path uint64
		name string
	}{path, name})
}

func (w *wholes) has(path whole) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.known[path]
}

func (w *wholes) add(path whole) {
	if w.has(path) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == nil || len(w.known) >= maxWholes {
		w.known = map[whole]bool{}
	}
	w.known[path] = true
}

// wants tells whether the content of an object of the kind would show something.
func (w *wholes) wants(kind schema.GroupVersionKind) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return !w.shown[kind]
}

func (w *wholes) show(kind schema.GroupVersionKind) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shown == nil {
		w.shown = map[schema.GroupVersionKind]bool{}
	}
	w.shown[kind] = true
}
