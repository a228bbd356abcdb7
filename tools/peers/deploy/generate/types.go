package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// generate returns the contents of the file: a line for each kind, with its short names, a line for each cluster-scoped
// kind of any version, and then for each type of the kinds a line with its form, a line with its fields that can't be
// nil, and a line for each field that accepts only some values.
func generate() ([]byte, error) {
	all, err := clients()
	if err != nil {
		return nil, err
	}
	source, err := newSources()
	if err != nil {
		return nil, err
	}
	short, err := shortNames()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	types, goTypes := map[string]smd.TypeDef{}, map[string]reflect.Type{}
	for _, client := range all {
		kinds, err := client.kinds()
		if err != nil {
			return nil, err
		}
		for _, kind := range kinds {
			names := strings.Join(short[kind.GroupKind()], " ")
			fmt.Fprintf(&out, "kind\t%s\t%s\t%s\t%s\n", kind.GroupVersion(), kind.Kind, kind.typeName, names)
			if err := collect(types, kind.schema, kind.typeName); err != nil {
				return nil, fmt.Errorf("%s: %w", kind, err)
			}
			collectGoTypes(goTypes, client.scheme.AllKnownTypes()[kind.GroupVersionKind])
		}
	}
	kinds, err := source.clusterScoped(all)
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		fmt.Fprintf(&out, "cluster\t%s\t%s\n", kind.Group, kind.Kind)
	}
	nameInlined(types)
	for _, name := range slices.Sorted(maps.Keys(types)) {
		if err := source.writeType(&out, types[name], goTypes[name]); err != nil {
			return nil, fmt.Errorf("type %s: %w", name, err)
		}
	}
	return out.Bytes(), nil
}

// writeType writes the lines of a type. goType is nil if the type isn't made from a Go struct.
func (s *sources) writeType(out *bytes.Buffer, def smd.TypeDef, goType reflect.Type) error {
	content, err := json.Marshal(atom(def.Atom))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "type\t%s\t%s\n", def.Name, content)
	if goType == nil {
		return nil
	}
	if fields := zeros(goType); len(fields) > 0 {
		fmt.Fprintf(out, "zero\t%s\t%s\n", def.Name, strings.Join(fields, " "))
	}
	enums, err := s.enums(def.Name, goType)
	if err != nil {
		return err
	}
	for _, field := range slices.Sorted(maps.Keys(enums)) {
		fmt.Fprintf(out, "enum\t%s\t%s\t%s\n", def.Name, field, strings.Join(enums[field], " "))
	}
	return nil
}

// collect adds a type and all types that it refers to.
func collect(types map[string]smd.TypeDef, s *smd.Schema, name string) error {
	if _, known := types[name]; known {
		return nil
	}
	def, ok := s.FindNamedType(name)
	if !ok {
		return fmt.Errorf("type %s is missing", name)
	}
	types[name] = def
	for _, used := range references(def.Atom) {
		if err := collect(types, s, used); err != nil {
			return err
		}
	}
	return nil
}

// references returns the names of the types that an atom refers to.
func references(a smd.Atom) []string {
	var refs []smd.TypeRef
	if a.List != nil {
		refs = append(refs, a.List.ElementType)
	}
	if a.Map != nil {
		refs = append(refs, a.Map.ElementType)
		for _, field := range a.Map.Fields {
			refs = append(refs, field.Type)
		}
	}
	var names []string
	for _, ref := range refs {
		if ref.NamedType != nil {
			names = append(names, *ref.NamedType)
		} else {
			names = append(names, references(ref.Inlined)...)
		}
	}
	return names
}

// nameInlined replaces the inlined types of all types by types with names, so that a reference can be decoded without
// its inlined type. A scalar gets the name of its kind, and a list or map the name of the place where it is used.
func nameInlined(types map[string]smd.TypeDef) {
	for _, name := range slices.Sorted(maps.Keys(types)) {
		types[name] = smd.TypeDef{Name: name, Atom: withNames(types, types[name].Atom, name)}
	}
}

func withNames(types map[string]smd.TypeDef, a smd.Atom, at string) smd.Atom {
	named := smd.Atom{Scalar: a.Scalar}
	if a.List != nil {
		named.List = &smd.List{
			ElementType:         withName(types, a.List.ElementType, at+"[]"),
			ElementRelationship: a.List.ElementRelationship, Keys: a.List.Keys,
		}
	}
	if a.Map != nil {
		named.Map = &smd.Map{
			ElementType: withName(types, a.Map.ElementType, at+"[]"), ElementRelationship: a.Map.ElementRelationship,
		}
		for _, f := range a.Map.Fields {
			named.Map.Fields = append(named.Map.Fields, smd.StructField{
				Name: f.Name, Type: withName(types, f.Type, at+"."+f.Name), Default: f.Default,
			})
		}
	}
	return named
}

func withName(types map[string]smd.TypeDef, r smd.TypeRef, at string) smd.TypeRef {
	if r.NamedType != nil || r.Inlined == (smd.Atom{}) {
		return r
	}
	name := at
	if r.Inlined.Scalar != nil && r.Inlined.List == nil && r.Inlined.Map == nil {
		name = string(*r.Inlined.Scalar)
	}
	if _, known := types[name]; !known {
		types[name] = smd.TypeDef{Name: name, Atom: withNames(types, r.Inlined, at)}
	}
	r.NamedType, r.Inlined = &name, smd.Atom{}
	return r
}

// The forms below are the forms of package schema without empty fields and inlined types. Unions are left out, since
// merging doesn't use them.

func atom(a smd.Atom) map[string]any {
	out := map[string]any{}
	if a.Scalar != nil {
		out["scalar"] = *a.Scalar
	}
	if a.List != nil {
		out["list"] = list(a.List)
	}
	if a.Map != nil {
		out["map"] = object(a.Map)
	}
	return out
}

func list(l *smd.List) map[string]any {
	out := map[string]any{"elementType": reference(l.ElementType)}
	if l.ElementRelationship != "" {
		out["elementRelationship"] = l.ElementRelationship
	}
	if len(l.Keys) > 0 {
		out["keys"] = l.Keys
	}
	return out
}

func object(m *smd.Map) map[string]any {
	out := map[string]any{}
	if element := reference(m.ElementType); len(element) > 0 {
		out["elementType"] = element
	}
	if m.ElementRelationship != "" {
		out["elementRelationship"] = m.ElementRelationship
	}
	var fields []any
	for _, f := range m.Fields {
		field := map[string]any{"name": f.Name, "type": reference(f.Type)}
		switch f.Default.(type) {
		case string, bool, int, int64, float64:
			// Only the defaults of list keys are used.
			field["default"] = f.Default
		}
		fields = append(fields, field)
	}
	if len(fields) > 0 {
		out["fields"] = fields
	}
	return out
}

func reference(r smd.TypeRef) map[string]any {
	out := map[string]any{}
	if r.NamedType != nil {
		out["namedType"] = *r.NamedType
	}
	if r.ElementRelationship != nil {
		out["elementRelationship"] = *r.ElementRelationship
	}
	if r.Nullable {
		out["nullable"] = true
	}
	return out
}
