package dryrun

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// unsupported returns the values in an object of Kubernetes that its types allow and no server takes: words for
// which there is a list of others, keys of ConfigMaps and Secrets that can't be names of files, and ports out of range.
func (c *Cluster) unsupported(d *declaration, obj *unstructured.Unstructured) field.ErrorList {
	object, err := d.object()
	if err != nil || !d.strict || d.content != nil {
		return nil
	}
	a := allower{types: object.Schema}
	for name, value := range obj.Object {
		if name != "metadata" && name != "status" {
			a.field(name, value, object.TypeRef, nil)
		}
	}
	if kind := d.kind.GroupKind(); kind.Group == "" && (kind.Kind == "ConfigMap" || kind.Kind == "Secret") {
		for _, name := range []string{"data", "binaryData"} {
			for _, key := range slices.Sorted(maps.Keys(mapAt(obj.Object, name))) {
				for _, problem := range validation.IsConfigMapKey(key) {
					a.found = append(a.found, field.Invalid(field.NewPath(name).Key(key), key, problem))
				}
			}
		}
	}
	slices.SortFunc(a.found, func(x, y *field.Error) int { return strings.Compare(x.Field, y.Field) })
	return a.found
}

// allower collects values that no server takes.
type allower struct {
	types *smd.Schema
	found field.ErrorList
}

func (a *allower) value(value any, ref smd.TypeRef, at *field.Path) {
	switch value := value.(type) {
	case map[string]any:
		for name, item := range value {
			a.field(name, item, ref, at)
		}
	case []any:
		if atom, _ := a.types.Resolve(ref); atom.List != nil {
			for i, item := range value {
				a.value(item, atom.List.ElementType, at.Index(i))
			}
		}
	}
}

func (a *allower) field(name string, value any, ref smd.TypeRef, at *field.Path) {
	atom, _ := a.types.Resolve(ref)
	if atom.Map == nil {
		return
	}
	below := atom.Map.ElementType
	if declared, ok := atom.Map.FindField(name); ok {
		below = declared.Type
	}
	path := at.Child(name)
	if ref.NamedType != nil {
		kind := strings.TrimPrefix(*ref.NamedType, "io.k8s.api.")
		if words := allowedValues[kind][name]; words != "" {
			where := path
			if slices.Contains(asWhole, kind) {
				where = at
			}
			a.words(value, strings.Fields(words), where)
		}
		if slices.Contains(portFields[kind], name) {
			a.port(value, path)
		}
	}
	a.value(value, below, path)
}

func (a *allower) words(value any, words []string, at *field.Path) {
	if list, ok := value.([]any); ok {
		for i, item := range list {
			place := at.Index(i)
			if slices.Contains(wholeLists, at.String()[strings.LastIndex(at.String(), ".")+1:]) {
				place = at
			}
			a.words(item, words, place)
		}
		return
	}
	if word, ok := value.(string); ok && word != "" && !slices.Contains(words, word) {
		a.found = append(a.found, field.NotSupported(at, word, words))
	}
}

// asWhole are types, and wholeLists lists, that a server refuses as a whole for a word that it doesn't know.
var asWhole = []string{"apps.v1.DaemonSetUpdateStrategy", "apps.v1.DeploymentStrategy"}

var wholeLists = []string{"accessModes", "volumeLifecycleModes"}

// portFields are fields for the number of a port, by type.
var portFields = map[string][]string{
	"core.v1.ContainerPort": {"containerPort"},
	"core.v1.ServicePort":   {"port"},
}

func (a *allower) port(value any, at *field.Path) {
	port, ok := value.(int64)
	if !ok {
		return
	}
	for _, problem := range validation.IsValidPortNum(int(port)) {
		a.found = append(a.found, field.Invalid(at, fmt.Sprint(port), problem))
	}
}
