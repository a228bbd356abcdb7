package convert

import (
	"fmt"
	"go/ast"

	"github.com/operkit/operkit/tools/operkit/internal/source"
)

// container converts pointers, slices and maps.
func (w *writer) container(from, to string, has, wants source.Type, depth int) ([]string, bool) {
	text, is := w.to.text(wants) // by its name, if it has one
	if !is {
		return nil, false
	}
	if _, declared, is := w.from.local(has); is {
		has = declared
	}
	if _, declared, is := w.to.local(wants); is {
		wants = declared
	}
	switch target := wants.Expr.(type) {
	case *ast.StarExpr:
		if origin, is := has.Expr.(*ast.StarExpr); is {
			return w.pointer(from, to, has.Of(origin.X), wants.Of(target.X))
		}
	case *ast.ArrayType:
		if origin, is := has.Expr.(*ast.ArrayType); is && origin.Len == nil && target.Len == nil {
			return w.slice(from, to, text, has.Of(origin.Elt), wants.Of(target.Elt), depth)
		}
	case *ast.MapType:
		origin, is := has.Expr.(*ast.MapType)
		if !is {
			return nil, false
		}
		mine, is := w.from.foreign(has.Of(origin.Key))
		other, also := w.to.foreign(wants.Of(target.Key))
		if is && also && mine == other {
			return w.mapped(from, to, text, has.Of(origin.Value), wants.Of(target.Value), depth)
		}
	}
	return nil, false
}

// pointer converts what a pointer points to: a struct of both versions, or a value of the language.
func (w *writer) pointer(from, to string, has, wants source.Type) ([]string, bool) {
	line, done := w.call(from, to, has, wants)
	if !done {
		var lines []string
		if lines, done = w.basic("*"+from, "*"+to, has, wants); done {
			line = lines[0]
		}
	}
	text, is := w.to.text(wants)
	if !done || !is {
		return nil, false
	}
	return []string{fmt.Sprintf("if %s != nil {\n%s = new(%s)\n%s\n}", from, to, text, line)}, true
}

// slice converts all elements. text is the type of the slice.
func (w *writer) slice(from, to, text string, has, wants source.Type, depth int) ([]string, bool) {
	index := string(rune('i' + depth))
	element := "[" + index + "]"
	lines, done := w.element(from+element, to+element, has, wants, depth+1)
	if !done || depth > 2 {
		return nil, false
	}
	return []string{fmt.Sprintf("if %s != nil {\n%s = make(%s, len(%s))\nfor %s := range %s {\n%s}\n}",
		from, to, text, from, index, from, joined(lines))}, true
}

// mapped converts all values of a map. text is the type of the map.
func (w *writer) mapped(from, to, text string, has, wants source.Type, depth int) ([]string, bool) {
	number := ""
	if depth > 0 {
		number = fmt.Sprint(depth + 1)
	}
	key, value, converted := "key"+number, "value"+number, "converted"+number
	element, is := w.to.text(wants)
	lines, done := w.element(value, converted, has, wants, depth+1)
	if !is || !done {
		return nil, false
	}
	return []string{fmt.Sprintf("if %s != nil {\n%s = make(%s, len(%s))\nfor %s, %s := range %s {\nvar %s %s\n%s%s[%s] = %s\n}\n}",
		from, to, text, from, key, value, from, converted, element, joined(lines), to, key, converted)}, true
}

// element converts an element of a slice or a map. A struct has a function of its own, because it may have elements of its
// own type.
func (w *writer) element(from, to string, has, wants source.Type, depth int) ([]string, bool) {
	if line, done := w.call("&"+from, "&"+to, has, wants); done {
		return []string{line}, true
	}
	if _, is := w.from.structure(has); is {
		return nil, false
	}
	return w.value(from, to, has, wants, depth)
}

func joined(lines []string) (text string) {
	for _, line := range lines {
		text += line + "\n"
	}
	return text
}
