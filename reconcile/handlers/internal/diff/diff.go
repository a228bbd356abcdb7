package diff

import (
	"fmt"
	"slices"

	"github.com/operkit/operkit/reconcile/handlers/internal/fieldpath"
)

// Op is what happened to a field.
type Op string

// The values of Op.
const (
	// Add: the field was absent.
	Add Op = "add"
	// Change: the field has another value.
	Change Op = "change"
	// Remove: the field is absent now.
	Remove Op = "remove"
)

// Item is one field that differs.
type Item struct {
	Op Op
	// Path has the keys of the maps on the way to the field; it is empty for the whole value.
	Path []string
	// Old and New are shared with the values that were compared: don't change them. An absent field is nil.
	Old, New any
}

// String returns the operation, the path and both values, such as "change .spec.size: 1 -> 2".
func (i Item) String() string {
	path := "." + fieldpath.String(i.Path)
	switch i.Op {
	case Add:
		return fmt.Sprintf("%s %s: %v", i.Op, path, i.New)
	case Remove:
		return fmt.Sprintf("%s %s: %v", i.Op, path, i.Old)
	}
	return fmt.Sprintf("%s %s: %v -> %v", i.Op, path, i.Old, i.New)
}

// depth is the length of the paths for which there is room from the beginning.
const depth = 16

// Of returns the fields in which two values differ, sorted by their paths; nil if there are none. A field that is added
// or removed with everything in it is one Item. Of changes nothing.
func Of(before, after any) []Item {
	items := appended(nil, make([]string, 0, depth), before, after)
	slices.SortFunc(items, func(a, b Item) int { return slices.Compare(a.Path, b.Path) })
	return items
}

// At returns the value of the field at path, nil if the field is absent or if there is no map on the way to it. To find
// out how one field differs, compare At of both values: the paths of the Items are relative to the field then.
func At(value any, path []string) any {
	for _, key := range path {
		parent, _ := value.(map[string]any)
		value = parent[key]
	}
	return value
}

// appended appends what differs at path, in any order. It overwrites what is in the capacity of path.
func appended(items []Item, path []string, before, after any) []Item {
	a, isMapA := before.(map[string]any)
	b, isMapB := after.(map[string]any)
	switch {
	case before == nil && after == nil:
		return items
	case before == nil:
		return append(items, Item{Add, slices.Clone(path), nil, after})
	case after == nil:
		return append(items, Item{Remove, slices.Clone(path), before, nil})
	case isMapA && isMapB:
		return appendedKeys(items, path, a, b)
	case Equal(before, after):
		return items
	}
	return append(items, Item{Change, slices.Clone(path), before, after})
}

// appendedKeys appends what differs in two maps, in any order.
func appendedKeys(items []Item, path []string, before, after map[string]any) []Item {
	common := 0
	for key, was := range before {
		is, ok := after[key]
		if ok {
			common++
		}
		items = appended(items, append(path, key), was, is)
	}
	if common == len(after) {
		return items
	}
	for key, is := range after {
		if _, ok := before[key]; !ok {
			items = appended(items, append(path, key), nil, is)
		}
	}
	return items
}

// Equal reports whether two values are equal. In contrast to Of, a key with the value nil isn't an absent key: that
// matters for maps in lists.
func Equal(a, b any) bool {
	switch x := a.(type) {
	case nil:
		return b == nil
	case string:
		y, ok := b.(string)
		return ok && x == y
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && equalMaps(x, y)
	case []any:
		y, ok := b.([]any)
		return ok && equalLists(x, y)
	}
	return sameNumber(a, b)
}

func equalMaps(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for key, value := range a {
		if other, ok := b[key]; !ok || !Equal(value, other) {
			return false
		}
	}
	return true
}

func equalLists(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// sameNumber compares two numbers exactly: no int64 is converted to a float64 that rounds it.
func sameNumber(a, b any) bool {
	switch x := a.(type) {
	case int64:
		switch y := b.(type) {
		case int64:
			return x == y
		case float64:
			return isInteger(y, x)
		}
	case float64:
		switch y := b.(type) {
		case int64:
			return isInteger(x, y)
		case float64:
			return x == y || x != x && y != y //nolint:gocritic // NaN equals itself here: nothing has changed
		}
	}
	return false
}

// isInteger reports whether f has exactly the value n. A float64 from 2^63 on has no int64.
func isInteger(f float64, n int64) bool {
	return f >= -1<<63 && f < 1<<63 && int64(f) == n && float64(int64(f)) == f
}
