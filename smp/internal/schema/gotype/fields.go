package gotype

import (
	"reflect"
	"strings"
)

// field is a field of a struct as encoding/json sees it.
type field struct {
	reflect.StructField
	name   string // in JSON
	tagged bool   // whether the name is given by a tag
	depth  int    // the number of embedded structs around the field
}

// jsonFields returns the fields of a struct in JSON. Fields of embedded structs without a name are fields of the struct
// itself. If several fields have the same name, the least deeply embedded one counts; at the same depth, the one with a
// tag counts. If more than one is left, none counts.
func jsonFields(t reflect.Type) map[string]field {
	candidates := map[string][]field{}
	visited := map[reflect.Type]bool{}
	level := map[reflect.Type]int{t: 1}
	for depth := 0; len(level) > 0; depth++ {
		next := map[reflect.Type]int{}
		for embedded, times := range level {
			if visited[embedded] {
				continue
			}
			visited[embedded] = true
			for i := range embedded.NumField() {
				collect(embedded.Field(i), depth, times, candidates, next)
			}
		}
		level = next
	}
	fields := make(map[string]field, len(candidates))
	for name, list := range candidates {
		if winner, ok := dominant(list); ok {
			fields[name] = winner
		}
	}
	return fields
}

// collect adds one field to the candidates. If the field embeds a struct, collect adds the struct to the next level
// instead. A struct that is embedded several times at one depth hides its own fields, so each of them is added twice.
func collect(f reflect.StructField, depth, times int, candidates map[string][]field, next map[reflect.Type]int) {
	target := f.Type
	if f.Anonymous && target.Kind() == reflect.Pointer && target.Name() == "" {
		target = target.Elem()
	}
	isStruct := target.Kind() == reflect.Struct
	if !f.IsExported() && (!f.Anonymous || !isStruct) {
		return
	}
	tag := f.Tag.Get("json")
	if tag == "-" {
		return
	}
	name, _, _ := strings.Cut(tag, ",")
	if f.Anonymous && isStruct && name == "" {
		next[target] += times
		return
	}
	found := field{StructField: f, name: name, tagged: name != "", depth: depth}
	if name == "" {
		found.name = f.Name
	}
	for range min(times, 2) {
		candidates[found.name] = append(candidates[found.name], found)
	}
}

func dominant(list []field) (winner field, ok bool) {
	for i, f := range list {
		switch {
		case i == 0 || f.depth < winner.depth || f.depth == winner.depth && f.tagged && !winner.tagged:
			winner, ok = f, true
		case f.depth == winner.depth && f.tagged == winner.tagged:
			ok = false
		}
	}
	return winner, ok
}
