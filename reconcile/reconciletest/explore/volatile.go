package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/reconciletest/internal/changes"
)

// mask replaces values that are made by chance, so that states that differ only in these values are equal. In place of
// a value stand a number, which equal values have in common, and whether the object had it before. So a stale copy of a
// value, or a hash of an old value, doesn't look like a fresh one.
type mask struct {
	// volatile are the fields that have other values in each execution, by difference.key.
	volatile map[string]bool
	// before is the state that values are compared with.
	before state
	// numbers are the numbers of values, in the order in which they appear.
	numbers map[string]int
}

// cover replaces the volatile values of a state.
func (m *mask) cover(s state) {
	m.numbers = map[string]int{}
	for _, object := range slices.Sorted(maps.Keys(s)) {
		if m.has(object) {
			m.value(object+" ", s[object], m.before[object])
		}
	}
}

// has reports whether an object has volatile fields.
func (m *mask) has(object string) bool {
	for key := range m.volatile {
		if strings.HasPrefix(key, object+" ") {
			return true
		}
	}
	return false
}

// value returns what stands in place of a value. It changes maps and lists.
func (m *mask) value(path string, value, before any) any {
	if m.volatile[path] || appliedMark(path) {
		text := encoded(value)
		if m.numbers[text] == 0 {
			m.numbers[text] = len(m.numbers) + 1
		}
		return fmt.Sprintf("value %d, kept: %t", m.numbers[text], text == encoded(before))
	}
	switch value := value.(type) {
	case map[string]any:
		fields, _ := before.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			value[name] = m.value(path+"."+name, value[name], fields[name])
		}
	case []any:
		items, _ := before.([]any)
		for i, item := range value {
			var earlier any
			if i < len(items) {
				earlier = items[i]
			}
			value[i] = m.value(path+"["+changes.Key(value, i)+"]", item, earlier)
		}
	}
	return value
}

// appliedMark reports whether a path is that of an annotation with the hash of what was applied: with a volatile value
// the hash differs, too.
func appliedMark(path string) bool {
	_, name, is := strings.Cut(path, " .metadata.annotations.")
	return is && isApplied(name)
}

// isApplied reports whether an annotation has the hash of what was applied.
func isApplied(annotation string) bool { return strings.Contains(annotation, "/applied-") }
