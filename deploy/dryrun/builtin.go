package dryrun

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// builtinText holds the kinds of Kubernetes and the types that they are made of, as the type
// converters of its client library have them. tools/peers/deploy/generate writes it.
//
//go:embed builtin.txt
var builtinText string

// objectMetaType is the type of the metadata of every object.
const objectMetaType = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// builtins are the kinds of Kubernetes. A type is decoded when a kind needs it.
type builtins struct {
	kinds map[schema.GroupVersionKind]*declaration
	types map[string]string
	// zeros are, by type, the fields whose zero value a server doesn't distinguish from their absence.
	zeros map[string][]string
}

var builtin = sync.OnceValues(func() (*builtins, error) {
	b := &builtins{kinds: map[schema.GroupVersionKind]*declaration{}, types: map[string]string{}, zeros: map[string][]string{}}
	names := map[schema.GroupVersionKind]string{}
	for line := range strings.Lines(builtinText) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case columns[0] == "type" && len(columns) == 3:
			b.types[columns[1]] = columns[2]
		case columns[0] == "zero" && len(columns) == 3:
			b.zeros[columns[1]] = strings.Split(columns[2], " ")
		case columns[0] == "kind" && len(columns) == 4:
			version, err := schema.ParseGroupVersion(columns[1])
			if err != nil {
				return nil, fmt.Errorf("kinds of Kubernetes: %w", err)
			}
			names[version.WithKind(columns[2])] = columns[3]
		default:
			return nil, fmt.Errorf("kinds of Kubernetes: line %q is none of kind, type and zero", line)
		}
	}
	for kind, name := range names {
		b.kinds[kind] = b.declare(kind, name)
	}
	return b, nil
})

func (b *builtins) declare(kind schema.GroupVersionKind, typeName string) *declaration {
	d := &declaration{
		kind: kind, scope: deploy.Namespaced, short: shortNames[kind.GroupKind()],
		generation: slices.Contains(counted[kind.Group], kind.Kind), selectable: selectableFields[kind.GroupKind()],
		strict: true, validName: nameRule(kind),
	}
	d.plural, d.singular = guessNames(kind)
	if slices.Contains(kubernetesClusterScoped[kind.Group], kind.Kind) {
		d.scope = deploy.ClusterScoped
	}
	d.object = sync.OnceValues(func() (typed.ParseableType, error) {
		types, err := b.closure(typeName)
		return typed.ParseableType{Schema: types, TypeRef: smd.TypeRef{NamedType: &typeName}}, err
	})
	// A status that the type has is one that a server keeps apart.
	d.status = strings.Contains(b.types[typeName], `{"name":"status",`)
	return d
}

// closure decodes the named types and all that they are made of.
func (b *builtins) closure(names ...string) (*smd.Schema, error) {
	decoded, types := map[string]bool{}, &smd.Schema{}
	for len(names) > 0 {
		name := names[len(names)-1]
		names = names[:len(names)-1]
		if decoded[name] {
			continue
		}
		decoded[name] = true
		var text atomText
		if err := json.Unmarshal([]byte(b.types[name]), &text); err != nil {
			return nil, fmt.Errorf("type %s of Kubernetes: %w", name, err)
		}
		def := smd.TypeDef{Name: name, Atom: text.atom()}
		types.Types = append(types.Types, def)
		names = append(names, references(def.Atom)...)
	}
	return types, nil
}

// references returns the names of the types that an atom is made of.
func references(a smd.Atom) []string {
	var used []smd.TypeRef
	if a.List != nil {
		used = append(used, a.List.ElementType)
	}
	if a.Map != nil {
		used = append(used, a.Map.ElementType)
		for _, field := range a.Map.Fields {
			used = append(used, field.Type)
		}
	}
	var names []string
	for _, ref := range used {
		if ref.NamedType != nil {
			names = append(names, *ref.NamedType)
		} else {
			names = append(names, references(ref.Inlined)...)
		}
	}
	return names
}

// nameRule is what the names of a kind of Kubernetes have to be.
func nameRule(kind schema.GroupVersionKind) validation.ValidateNameFunc {
	switch {
	case kind.Group == "rbac.authorization.k8s.io":
		return pathSegment
	case kind.Group == "" && kind.Kind == "Namespace":
		return validation.ValidateNamespaceName
	case kind.Group == "" && kind.Kind == "Service":
		return validation.NameIsDNS1035Label
	}
	return validation.NameIsDNSSubdomain
}
