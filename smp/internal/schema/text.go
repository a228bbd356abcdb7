package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Text writes the objects that are reachable from a type, one block for each: a line `type NAME`,
// then one line for each field with its name, its type, its strategy and its keys. The type itself
// comes first, the others by name. The table of the built-in kinds is made of such blocks.
func Text(root *Type) string {
	w := &writer{labels: map[*Type]string{}, taken: map[string]int{}}
	w.collect(root)
	others := w.objects
	if len(others) > 0 && others[0] == root {
		others = others[1:]
	}
	slices.SortFunc(others, func(a, b *Type) int { return strings.Compare(w.labels[a], w.labels[b]) })
	for i, object := range w.objects {
		if i > 0 {
			w.WriteByte('\n')
		}
		w.writeObject(object)
	}
	return w.String()
}

// writer writes types. Each object has its own label, even if two have the same name.
type writer struct {
	strings.Builder
	labels  map[*Type]string
	taken   map[string]int
	objects []*Type
}

// collect finds the objects, breadth first, so that labels don't depend on the order of maps.
func (w *writer) collect(root *Type) {
	seen := map[*Type]bool{nil: true}
	queue := []*Type{root}
	for len(queue) > 0 {
		t := queue[0]
		queue = queue[1:]
		if seen[t] {
			continue
		}
		seen[t] = true
		switch t.Shape {
		case Object:
			w.objects = append(w.objects, t)
			w.labels[t] = w.label(t)
			for _, name := range slices.Sorted(maps.Keys(t.Fields)) {
				queue = append(queue, t.Fields[name].Type)
			}
		case Map, List:
			queue = append(queue, t.Values.Type)
		}
	}
}

func (w *writer) label(t *Type) string {
	name := t.Name
	if name == "" {
		name = "object"
	}
	w.taken[name]++
	if n := w.taken[name]; n > 1 {
		name += "#" + strconv.Itoa(n)
	}
	return name
}

func (w *writer) writeObject(t *Type) {
	w.WriteString("type " + w.labels[t])
	if t.Open {
		w.WriteString(" open")
	}
	w.WriteByte('\n')
	for _, name := range slices.Sorted(maps.Keys(t.Fields)) {
		w.WriteString("  " + word(name) + " " + w.place(t.Fields[name], nil) + "\n")
	}
}

// place returns the type at a place, then how it merges. within are the lists and maps around it.
func (w *writer) place(p Place, within []*Type) string {
	text := w.expression(p.Type, within)
	if p.Strategy != 0 {
		text += " " + p.Strategy.String()
	}
	for i, key := range p.Keys {
		separator := " "
		if i > 0 {
			separator = ","
		}
		text += separator + key.String()
	}
	return text
}

func (w *writer) expression(t *Type, within []*Type) string {
	if t == nil {
		return "any"
	}
	if slices.Contains(within, t) {
		return "any" // a list that contains itself has no finite notation
	}
	switch t.Shape {
	case Scalar:
		return "scalar"
	case Object:
		return w.labels[t]
	case Map:
		return "map[string]" + w.values(t, within)
	case List:
		return "[]" + w.values(t, within)
	default:
		return "any"
	}
}

// values returns the type that a list or map holds, in parentheses if it has a strategy.
func (w *writer) values(t *Type, within []*Type) string {
	text := w.place(t.Values, append(slices.Clone(within), t))
	if t.Values.Strategy != 0 {
		return "(" + text + ")"
	}
	return text
}

// String returns the name of a key, and its default if it has one.
func (k Key) String() string {
	if k.Default == nil {
		return word(k.Name)
	}
	text, err := json.Marshal(k.Default)
	if err != nil {
		return word(k.Name)
	}
	return word(k.Name) + "=" + string(text)
}

// word returns a name as it is written in a line: quoted if it could be read as several words.
func word(name string) string {
	if name == "" || strings.ContainsAny(name, " \"(),=") || strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// Expression returns one type in the notation of [Text].
func Expression(t *Type) string {
	w := &writer{labels: map[*Type]string{}, taken: map[string]int{}}
	w.collect(t)
	return w.expression(t, nil)
}
