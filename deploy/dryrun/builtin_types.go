package dryrun

import (
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// The forms in which builtin.txt holds types: those of package schema, whose own are written
// for YAML, which takes twenty times as long to read.

type atomText struct {
	Scalar *smd.Scalar
	List   *listText
	Map    *mapText
}

type listText struct {
	ElementType         refText
	ElementRelationship smd.ElementRelationship
	Keys                []string
}

type mapText struct {
	Fields              []fieldText
	ElementType         refText
	ElementRelationship smd.ElementRelationship
}

type fieldText struct {
	Name    string
	Type    refText
	Default any
}

type refText struct {
	NamedType           *string
	Inlined             *atomText
	ElementRelationship *smd.ElementRelationship
	Nullable            bool
}

func (a *atomText) atom() smd.Atom {
	if a == nil {
		return smd.Atom{}
	}
	atom := smd.Atom{Scalar: a.Scalar}
	if a.List != nil {
		atom.List = &smd.List{
			ElementType: a.List.ElementType.ref(), ElementRelationship: a.List.ElementRelationship, Keys: a.List.Keys,
		}
	}
	if a.Map != nil {
		atom.Map = &smd.Map{ElementType: a.Map.ElementType.ref(), ElementRelationship: a.Map.ElementRelationship}
		for _, field := range a.Map.Fields {
			atom.Map.Fields = append(atom.Map.Fields, smd.StructField{Name: field.Name, Type: field.Type.ref(), Default: field.Default})
		}
	}
	return atom
}

func (r refText) ref() smd.TypeRef {
	return smd.TypeRef{
		NamedType: r.NamedType, Inlined: r.Inlined.atom(), ElementRelationship: r.ElementRelationship, Nullable: r.Nullable,
	}
}
