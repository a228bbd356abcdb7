package watcher

import (
	"iter"
	"maps"
	"slices"
	"sync"
)

// ListMap has an ordered list of items for each key, as the app SDK's has. The zero value is empty. It is safe for
// concurrent use. Ranges are over the items at their begin, so that the loop may change the map.
type ListMap[K comparable, V any] struct {
	mu    sync.RWMutex
	lists map[K][]V // never changed in place
}

// NewListMap returns an empty ListMap.
func NewListMap[K comparable, V any]() *ListMap[K, V] { return &ListMap[K, V]{} }

// AddItem adds items to the end of the list of a key. It makes the key, also without items.
func (l *ListMap[K, V]) AddItem(key K, items ...V) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lists == nil {
		l.lists = map[K][]V{}
	}
	l.lists[key] = slices.Concat(l.lists[key], items)
}

// ItemAt returns an item by its index. It returns false if there is none.
func (l *ListMap[K, V]) ItemAt(key K, index int) (item V, ok bool) {
	items := l.of(key)
	if index < 0 || index >= len(items) {
		return item, false
	}
	return items[index], true
}

// KeySize returns the number of items of a key.
func (l *ListMap[K, V]) KeySize(key K) int { return len(l.of(key)) }

// Size returns the number of keys.
func (l *ListMap[K, V]) Size() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.lists)
}

// Keys returns the keys, in no order.
func (l *ListMap[K, V]) Keys() []K {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return slices.AppendSeq(make([]K, 0, len(l.lists)), maps.Keys(l.lists))
}

// Range calls f for each item of a key, in order.
func (l *ListMap[K, V]) Range(key K, f func(index int, item V)) {
	for i, item := range l.of(key) {
		f(i, item)
	}
}

// RangeAll calls f for each item, the keys in no order.
func (l *ListMap[K, V]) RangeAll(f func(key K, index int, item V)) {
	for key, items := range l.All() {
		for i, item := range items {
			f(key, i, item)
		}
	}
}

// All returns the keys, in no order, with copies of their items.
func (l *ListMap[K, V]) All() iter.Seq2[K, []V] {
	l.mu.RLock()
	lists := maps.Clone(l.lists)
	l.mu.RUnlock()
	return func(yield func(K, []V) bool) {
		for key, items := range lists {
			if !yield(key, slices.Clone(items)) {
				return
			}
		}
	}
}

// RemoveItem removes the first item of a key that matches. It reports whether there was one. match must not call the
// ListMap.
func (l *ListMap[K, V]) RemoveItem(key K, match func(item V) bool) bool {
	return l.RemoveItems(key, match, 1) > 0
}

// RemoveItems removes the items of a key that match: the first limit ones, or all if limit isn't positive. It returns
// their number. A key without items is removed. match must not call the ListMap.
func (l *ListMap[K, V]) RemoveItems(key K, match func(item V) bool, limit int) (removed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.lists[key]
	kept := make([]V, 0, len(before))
	for _, item := range before {
		if (limit < 1 || removed < limit) && match(item) {
			removed++
			continue
		}
		kept = append(kept, item)
	}
	l.put(key, kept, removed)
	return removed
}

// RemoveItemAt removes an item by its index. Without such an item it does nothing. A key without items is removed.
func (l *ListMap[K, V]) RemoveItemAt(key K, index int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	items := l.lists[key]
	if index < 0 || index >= len(items) {
		return
	}
	l.put(key, slices.Concat(items[:index], items[index+1:]), 1)
}

// RemoveKey removes a key with its items.
func (l *ListMap[K, V]) RemoveKey(key K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.lists, key)
}

func (l *ListMap[K, V]) of(key K) []V {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.lists[key]
}

// put sets the items that are left.
func (l *ListMap[K, V]) put(key K, kept []V, removed int) {
	switch {
	case removed == 0:
	case len(kept) == 0:
		delete(l.lists, key)
	default:
		l.lists[key] = kept
	}
}
