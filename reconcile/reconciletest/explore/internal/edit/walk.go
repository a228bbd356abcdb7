package edit

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// deepest is how deep fields are edited: a field of spec has depth 2, and items and entries count too.
const deepest = 5

// walker collects the edits of a resource.
type walker struct {
	sample map[string]any
	frozen frozen
	edits  []Edit
}

// visit adds the edits of a location and of what is in it.
func (w *walker) visit(p *location, optional bool) {
	w.frozen.add(p.schema, p.path)
	value, exists := p.get(w.sample)
	if w.frozen.has(p.path) || p.depth > deepest || !p.creatable(w.sample) || p.leftAlone(exists) {
		return
	}
	switch shapeOf(p.schema) {
	case scalarField:
		w.scalar(p, value)
	case objectField:
		w.object(p, value, exists)
	case listField:
		items, _ := value.([]any)
		w.list(p, items)
	case mapField:
		entries, _ := value.(map[string]any)
		w.mapping(p, entries)
	case opaqueField:
		return
	}
	if w.frozen.hasPart(p.path) || ruled(p.schema) {
		return
	}
	if exists && optional {
		rank := absent
		if shapeOf(p.schema) == objectField {
			rank = ofItems // the edits of its fields show more exactly what is wrong
		}
		w.add(rank, p, " left out", value, p.drop)
	}
	if p.schema["nullable"] == true && value != nil {
		w.set(absent, p, ": null", nil)
	}
}

// object adds the edits of an object's fields.
func (w *walker) object(p *location, value any, exists bool) {
	if made, can := fresh(p.schema); can && !exists && !w.frozen.hasPart(p.path) {
		w.set(edge, p, ": created", made)
	}
	if exists && value == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(propertiesOf(p.schema))) {
		w.visit(p.field(name), !slices.Contains(stringsOf(p.schema["required"]), name))
	}
}

// scalar adds another value, and the values at the edges.
func (w *walker) scalar(p *location, present any) {
	if present == nil {
		present = p.schema["default"]
	}
	taken := w.taken(p)
	next, can := another(p.schema, present, taken...)
	if !can {
		return
	}
	w.set(OneField, p, ": "+valueText(next), next)
	tried := append(taken, present, next)
	for _, value := range edgesOf(p.schema, present) {
		if fits(p.schema, value) && !slices.Contains(tried, value) {
			tried = append(tried, value)
			w.set(edge, p, ": "+valueText(value), value)
		}
	}
}

// taken returns the values that a location must not have, because the same list has them.
func (w *walker) taken(p *location) []any {
	if _, is := p.step.(int); is {
		items, _ := p.parent.get(w.sample)
		list, _ := items.([]any)
		return slices.Clone(list)
	}
	if _, is := p.parent.step.(int); is && slices.Contains(identifying(p.parent.parent.schema), p.step.(string)) {
		items, _ := p.parent.parent.get(w.sample)
		list, _ := items.([]any)
		return column(list, p.step.(string))
	}
	return nil
}

// set adds an edit that sets a value.
func (w *walker) set(rank Rank, p *location, what string, value any) {
	w.add(rank, p, what, value, func(resource map[string]any) { p.put(resource, value) })
}

// add adds an edit. value is what it sets or removes.
func (w *walker) add(rank Rank, p *location, what string, value any, do func(resource map[string]any)) {
	w.edits = append(w.edits, Edit{
		Name: p.name + what, Rank: rank, at: p, Paths: touched(p.schema, p.path, value),
		Do: func(obj *unstructured.Unstructured) { do(obj.Object) },
	})
}
