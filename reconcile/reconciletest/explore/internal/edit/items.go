package edit

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
)

// list adds edits of a list: an item more, one less, two swapped, as few and as many as are valid, and the edits of
// the first item.
func (w *walker) list(p *location, items []any) {
	least, highest := countOf(p.schema["minItems"], 0), countOf(p.schema["maxItems"], math.MaxInt)
	count := len(items)
	if longer, can := filled(p.schema, items, max(count+1, least)); can {
		w.set(orOneField(ofItems, count), p, ": item added", longer)
	}
	if count > 0 && count > least {
		w.set(ofItems, p, ": last item removed", items[:count-1])
	}
	if count > 1 && !reflect.DeepEqual(items[0], items[1]) {
		w.set(ofItems, p, ": first items swapped", append([]any{items[1], items[0]}, items[2:]...))
	}
	if count > least+1 {
		w.set(edge, p, fmt.Sprintf(": %d items", least), slices.Clone(items[:least]))
	}
	if most, can := filled(p.schema, items, highest); can && highest > count+1 {
		w.set(edge, p, fmt.Sprintf(": %d items", highest), most)
	}
	if count > 0 {
		w.visit(p.item(0), false)
	}
}

// mapping adds edits of a map: an entry more, one less, and the edits of the first entry.
func (w *walker) mapping(p *location, entries map[string]any) {
	keys := slices.Sorted(maps.Keys(entries))
	key := "key"
	var like any
	if len(keys) > 0 {
		key, like = keys[len(keys)-1]+"x", entries[keys[len(keys)-1]]
	}
	value, can := like, like != nil && !ruled(entriesOf(p.schema))
	if !can {
		value, can = fresh(entriesOf(p.schema))
	}
	if can && len(keys) < countOf(p.schema["maxProperties"], math.MaxInt) {
		more := maps.Clone(entries)
		if more == nil {
			more = map[string]any{}
		}
		more[key] = value
		if len(more) >= countOf(p.schema["minProperties"], 0) {
			w.set(orOneField(ofItems, len(keys)), p, ": entry "+key+" added", more)
		}
	}
	if len(keys) > 0 && len(keys) > countOf(p.schema["minProperties"], 0) {
		fewer := maps.Clone(entries)
		delete(fewer, keys[len(keys)-1])
		w.set(ofItems, p, ": entry "+keys[len(keys)-1]+" removed", fewer)
	}
	if len(keys) > 0 {
		w.visit(p.entry(keys[0]), false)
	}
}

// orOneField returns the rank of the first item: it is the only edit of its field.
func orOneField(rank Rank, count int) Rank {
	if count == 0 {
		return OneField
	}
	return rank
}
