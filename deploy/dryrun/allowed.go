package dryrun

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// unsupported returns an error for each value in an object of a built-in kind that the type of the field allows but a
// server refuses: values that aren't in a field's list of allowed values, keys of ConfigMaps and Secrets that can't be
// file names, and ports out of range.
func (c *Cluster) unsupported(d *declaration, obj *unstructured.Unstructured) field.ErrorList {
	object, err := d.object()
	if err != nil || !d.strict || d.content != nil {
		return nil
	}
	a := allower{enums: c.kinds.builtin.enums}
	for name, value := range obj.Object {
		if name != "metadata" && name != "status" {
			eachField(object.Schema, map[string]any{name: value}, object.TypeRef, nil, a.field)
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

// allower collects errors for values that a server refuses.
type allower struct {
	enums map[typeField][]string
	found field.ErrorList
}

func (a *allower) field(f typedField) (below bool) {
	if f.holder.NamedType == nil {
		return true
	}
	kind := strings.TrimPrefix(*f.holder.NamedType, "io.k8s.api.")
	if words := a.enums[typeField{*f.holder.NamedType, f.name}]; words != nil {
		where := f.path()
		if slices.Contains(asWhole, kind) {
			where = f.at
		}
		a.words(f.content[f.name], words, where)
	}
	if slices.Contains(portFields[kind], f.name) {
		a.port(f.content[f.name], f.path())
	}
	return true
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

// When a server refuses a value, it usually names the field or list item. For the types in asWhole it names the object
// that has the field. For the lists in wholeLists it names the list.
var asWhole = []string{"apps.v1.DaemonSetUpdateStrategy", "apps.v1.DeploymentStrategy"}

var wholeLists = []string{"accessModes", "volumeLifecycleModes"}

// portFields are fields that hold a port number, by type.
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
