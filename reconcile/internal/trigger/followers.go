package trigger

import (
	"maps"
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Followers records which keys follow objects that they don't own. A key follows an object as long as its reconciles
// call Add for it, and the objects of a selection as long as they call AddAll. The zero value is empty. It is safe for
// concurrent use.
type Followers struct {
	mu   sync.Mutex
	keys map[followed]map[deploy.Ref]struct{}
	// follows is what each key follows; true: the current reconcile has added it.
	follows map[deploy.Ref]map[followed]bool
	// selections are the selectors of the selections that are followed, by kind.
	selections map[schema.GroupVersionKind]map[followed]labels.Selector
}

// followed is an object, or a selection: the objects of a kind and a namespace ("": of all namespaces) that a selector
// matches.
type followed struct {
	ref       deploy.Ref
	selection bool
	selector  string
}

// Add records that the present reconcile of key follows ref.
func (f *Followers) Add(key deploy.Ref, ref deploy.Ref) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.add(key, followed{ref: ref})
}

// AddAll records that the present reconcile of key follows the objects of a kind and a namespace ("": of all
// namespaces) that selector matches; nil matches all.
func (f *Followers) AddAll(key deploy.Ref, kind schema.GroupVersionKind, namespace string, selector labels.Selector) {
	if selector == nil {
		selector = labels.Everything()
	}
	what := followed{ref: deploy.Ref{Kind: kind, Namespace: namespace}, selection: true, selector: selector.String()}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.add(key, what)
	if f.selections[kind] == nil {
		f.selections[kind] = map[followed]labels.Selector{}
	}
	f.selections[kind][what] = selector
}

func (f *Followers) add(key deploy.Ref, what followed) {
	if f.keys == nil {
		f.keys, f.follows = map[followed]map[deploy.Ref]struct{}{}, map[deploy.Ref]map[followed]bool{}
		f.selections = map[schema.GroupVersionKind]map[followed]labels.Selector{}
	}
	if f.keys[what] == nil {
		f.keys[what] = map[deploy.Ref]struct{}{}
	}
	if f.follows[key] == nil {
		f.follows[key] = map[followed]bool{}
	}
	f.keys[what][key] = struct{}{}
	f.follows[key][what] = true
}

// Begin begins a reconcile of key, which hasn't added anything yet.
func (f *Followers) Begin(key deploy.Ref) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for what := range f.follows[key] {
		f.follows[key][what] = false
	}
}

// End ends a reconcile without an error: key no longer follows what the reconcile didn't add.
func (f *Followers) End(key deploy.Ref) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for what, wanted := range f.follows[key] {
		if !wanted {
			f.remove(key, what)
		}
	}
}

func (f *Followers) remove(key deploy.Ref, what followed) {
	if delete(f.follows[key], what); len(f.follows[key]) == 0 {
		delete(f.follows, key)
	}
	if delete(f.keys[what], key); len(f.keys[what]) > 0 {
		return
	}
	delete(f.keys, what)
	if kind := what.ref.Kind; what.selection {
		if delete(f.selections[kind], what); len(f.selections[kind]) == 0 {
			delete(f.selections, kind)
		}
	}
}

// Drop forgets what key follows.
func (f *Followers) Drop(key deploy.Ref) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for what := range f.follows[key] {
		f.remove(key, what)
	}
}

// DropKind forgets what the keys of a kind follow.
func (f *Followers) DropKind(kind schema.GroupVersionKind) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, all := range f.follows {
		if key.Kind != kind {
			continue
		}
		for what := range all {
			f.remove(key, what)
		}
	}
}

// Of returns the keys that follow the object of an event, each once. A selection is concerned if it matches the object
// before or after the event. An update without a change and an object that left the view concern no key.
func (f *Followers) Of(event deploy.Event) (keys []deploy.Ref) {
	if !concernsOthers(event) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	ref := deploy.RefOf(event.New)
	single, selections := f.keys[followed{ref: ref}], f.selections[ref.Kind]
	if len(selections) == 0 { // the usual case needs no copy
		return slices.Collect(maps.Keys(single))
	}
	all := maps.Clone(single)
	if all == nil {
		all = map[deploy.Ref]struct{}{}
	}
	for what, selector := range selections {
		isWithin := what.ref.Namespace == "" || what.ref.Namespace == ref.Namespace
		if isWithin && (selects(selector, event.Old) || selects(selector, event.New)) {
			maps.Copy(all, f.keys[what])
		}
	}
	return slices.Collect(maps.Keys(all))
}

func selects(selector labels.Selector, obj *unstructured.Unstructured) bool {
	return obj != nil && selector.Matches(labels.Set(obj.GetLabels()))
}

// Follows reports whether a key follows something.
func (f *Followers) Follows(key deploy.Ref) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.follows[key]) > 0
}

// Len returns how many keys follow something.
func (f *Followers) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.follows)
}
