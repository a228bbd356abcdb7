package convert

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/operkit/internal/name"
	"github.com/operkit/operkit/tools/operkit/internal/source"
)

// Pair returns the text of two functions that convert a kind from a version to the hub and back, such as upFromV1 and
// downToV1, with the functions that these call.
func Pair(kind string, version, hub Side) string {
	title := Title(version.Package)
	up := &writer{from: version, to: hub, name: func(of string) string { return "up" + of + "From" + title }}
	down := &writer{from: hub, to: version, name: func(of string) string { return "down" + of + "To" + title }}
	return up.function("", kind, "TypeMeta", "ObjectMeta") + up.helpers() + "\n" +
		down.function("", kind, "TypeMeta", "ObjectMeta") + down.helpers()
}

// Title returns a version for the name of a function, such as V1beta1.
func Title(version string) string { return strings.ToUpper(version[:1]) + version[1:] }

// Names returns the names of the two functions of a version.
func Names(version string) (up, down string) {
	return "upFrom" + Title(version), "downTo" + Title(version)
}

// writer writes functions that convert from one version to another.
type writer struct {
	from, to Side
	// name returns the name of the function for a type.
	name func(of string) string
	// called are the types whose functions are called, in the order in which they are written.
	called []string
}

// function returns a function that converts a struct type that both versions have. It is the main one if of is empty.
func (w *writer) function(of, typeName string, except ...string) string {
	from, _ := w.from.Folder.Type(typeName)
	to, _ := w.to.Folder.Type(typeName)
	from, _ = w.from.structure(from)
	to, _ = w.to.structure(to)
	var text strings.Builder
	function := w.name(of)
	fmt.Fprintf(&text, "// %s converts %s of %s to %s.\n", function, name.A(typeName), w.from.Folder.Name(), w.to.Folder.Name())
	result, end := "", ""
	if of == "" {
		result, end = "error ", "return nil\n"
	}
	fmt.Fprintf(&text, "func %s(from *%s.%s, to *%s.%s) %s{\n", function, w.from.Package, typeName, w.to.Package, typeName, result)
	for _, line := range w.fields("from", "to", fields(from, except...), fields(to, except...), 0) {
		text.WriteString(line + "\n")
	}
	text.WriteString(end + "}\n")
	return text.String()
}

// helpers returns the functions that are called.
func (w *writer) helpers() string {
	var text strings.Builder
	for i := 0; i < len(w.called); i++ { // a function may call others
		text.WriteString("\n" + w.function(w.called[i], w.called[i]))
	}
	return text.String()
}

// fields returns the lines that convert all fields of a struct.
func (w *writer) fields(from, to string, has, wants []field, depth int) (lines []string) {
	for _, want := range wants {
		target := to + "." + want.name
		done := false
		for _, one := range has {
			if one.name != want.name {
				continue
			}
			var more []string
			if more, done = w.value(from+"."+one.name, target, one.of, want.of, depth); done {
				lines = append(lines, more...)
			}
		}
		if !done {
			lines = append(lines, fmt.Sprintf("// TODO: set %s: %s has no equal field.", target, w.from.Folder.Name()))
		}
	}
	return lines
}

// value returns the lines that convert a value, and reports whether its types are equal in both versions. depth is the
// number of loops around the lines.
func (w *writer) value(from, to string, has, wants source.Type, depth int) ([]string, bool) {
	if mine, is := w.from.foreign(has); is {
		if other, is := w.to.foreign(wants); is && mine == other {
			return []string{to + " = " + from}, true
		}
	}
	if lines, done := w.basic(from, to, has, wants); done {
		return lines, true
	}
	hasStruct, is := w.from.structure(has)
	wantsStruct, also := w.to.structure(wants)
	if is && also {
		return w.fields(from, to, fields(hasStruct), fields(wantsStruct), depth), true
	}
	return w.container(from, to, has, wants, depth)
}

// basic converts values that are based on the same type of the language.
func (w *writer) basic(from, to string, has, wants source.Type) ([]string, bool) {
	mine, is := w.from.basic(has)
	other, also := w.to.basic(wants)
	text, named := w.to.text(wants)
	if !is || !also || !named || mine != other {
		return nil, false
	}
	return []string{to + " = " + text + "(" + from + ")"}, true
}

// call returns the call of a function for a struct type that both versions have under one name. from and to are
// pointers.
func (w *writer) call(from, to string, has, wants source.Type) (string, bool) {
	mine, _, is := w.from.local(has)
	other, _, also := w.to.local(wants)
	_, isStruct := w.from.structure(has)
	_, alsoStruct := w.to.structure(wants)
	if !is || !also || mine != other || !isStruct || !alsoStruct {
		return "", false
	}
	if !slices.Contains(w.called, mine) {
		w.called = append(w.called, mine)
	}
	return w.name(mine) + "(" + from + ", " + to + ")", true
}
