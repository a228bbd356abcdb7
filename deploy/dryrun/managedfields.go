package dryrun

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

const statusSubresource = "status"

// fieldManagers keeps the API machinery's field managers, one for each kind and subresource. It is guarded by the lock
// of its Cluster.
type fieldManagers struct {
	kinds    *kinds
	managers map[fieldManagerKey]*managedfields.FieldManager
}

type fieldManagerKey struct {
	kind        schema.GroupVersionKind
	subresource string
}

func newFieldManagers(k *kinds) *fieldManagers {
	return &fieldManagers{kinds: k, managers: map[fieldManagerKey]*managedfields.FieldManager{}}
}

// of returns the field manager of a kind, or of its status.
func (f *fieldManagers) of(d *declaration, subresource string) (*managedfields.FieldManager, error) {
	key := fieldManagerKey{d.kind, subresource}
	if manager, ok := f.managers[key]; ok {
		return manager, nil
	}
	version := d.kind.GroupVersion()
	manager, err := managedfields.NewDefaultCRDFieldManager(typeConverter{f.kinds}, conversion{f.kinds}, defaults{d}, creation{},
		d.kind, version, subresource, ownable(d, subresource))
	if err != nil {
		return nil, fmt.Errorf("fields of %s: %w", d.kind.Kind, err)
	}
	f.managers[key] = manager
	return manager, nil
}

// forget drops the field managers of a kind whose declaration changes.
func (f *fieldManagers) forget(kind schema.GroupKind) {
	maps.DeleteFunc(f.managers, func(key fieldManagerKey, _ *managedfields.FieldManager) bool {
		return key.kind.GroupKind() == kind
	})
}

// ownable returns the filter for the fields that a write may change and own. For a write of the status subresource this
// is the status. For a write of an object that has a status subresource it is everything else.
func ownable(d *declaration, subresource string) map[fieldpath.APIVersion]fieldpath.Filter {
	version := fieldpath.APIVersion(d.kind.GroupVersion().String())
	switch {
	case subresource == statusSubresource:
		return map[fieldpath.APIVersion]fieldpath.Filter{
			version: fieldpath.NewIncludeMatcherFilter(fieldpath.MakePrefixMatcherOrDie("status")),
		}
	case d.status:
		return map[fieldpath.APIVersion]fieldpath.Filter{
			version: fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.MakePathOrDie("status"))),
		}
	}
	return nil
}

// creation creates empty objects for the field management.
type creation struct{}

func (creation) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	return emptyObject(kind), nil
}

// defaults prunes and defaults the result of an apply.
type defaults struct{ *declaration }

func (d defaults) Default(obj runtime.Object) {
	if u, err := plain(obj); err == nil {
		d.complete(u)
	}
}

// conversion converts an object to another version: it sets the apiVersion and drops the fields that the other version
// doesn't have.
type conversion struct{ kinds *kinds }

func (conversion) Convert(in, _, _ any) error {
	return fmt.Errorf("conversion of a %T: not supported", in)
}

func (c conversion) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	obj, err := plain(in)
	if err != nil {
		return nil, err
	}
	kind, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{obj.GroupVersionKind()})
	if !ok {
		return nil, fmt.Errorf("%s: no version %s", obj.GroupVersionKind(), target.Identifier())
	}
	if kind == obj.GroupVersionKind() {
		return obj, nil
	}
	if conversion := c.kinds.converted(kind.GroupKind()); conversion != nil {
		d, err := c.kinds.of(kind)
		if err != nil {
			return nil, err
		}
		return d.convertTo(obj)
	}
	converted := inVersion(obj, kind.GroupVersion())
	if d, err := c.kinds.of(kind); err == nil && d.strict {
		converted = converted.DeepCopy()
		d.unknown(converted, true)
	}
	return converted, nil
}

func (conversion) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func emptyObject(kind schema.GroupVersionKind) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(kind)
	return obj
}

// inVersion returns obj with the apiVersion version. It shares the content of obj.
func inVersion(obj *unstructured.Unstructured, version schema.GroupVersion) *unstructured.Unstructured {
	if obj.GetAPIVersion() == version.String() {
		return obj
	}
	return &unstructured.Unstructured{Object: withField(obj.Object, "apiVersion", version.String())}
}

// stampManagers sets the times of the managedFields entries that this write created or changed. It uses the clock of
// the cluster, because the API machinery has used the clock of the machine.
func (c *Cluster) stampManagers(live, next *unstructured.Unstructured) {
	times := map[[4]string]any{}
	if live != nil {
		for _, entry := range managersOf(live) {
			times[managerKey(entry)] = entry["time"]
		}
	}
	entries := managersOf(next)
	if len(entries) == 0 {
		return
	}
	for i, entry := range entries {
		if before, known := times[managerKey(entry)]; !known || before != entry["time"] {
			entries[i] = withField(entry, "time", c.timestamp())
		}
	}
	slices.SortStableFunc(entries, compareManagers)
	stamped := make([]any, len(entries))
	for i, entry := range entries {
		stamped[i] = entry
	}
	metadataOf(next)["managedFields"] = stamped
}

// compareManagers compares two entries by the order in which an API server lists them.
func compareManagers(a, b map[string]any) int {
	for _, field := range []string{"operation", "time", "manager", "apiVersion", "subresource"} {
		if order := cmp.Compare(text(a[field]), text(b[field])); order != 0 {
			return order
		}
	}
	return 0
}

// managerKey identifies an entry as the API machinery does: the version doesn't count for entries of applies.
func managerKey(entry map[string]any) [4]string {
	version := text(entry["apiVersion"])
	if entry["operation"] == "Apply" {
		version = ""
	}
	return [4]string{text(entry["manager"]), text(entry["operation"]), version, text(entry["subresource"])}
}

func managersOf(obj *unstructured.Unstructured) []map[string]any {
	list, _ := metadataOf(obj)["managedFields"].([]any)
	var entries []map[string]any
	for _, item := range list {
		if entry, ok := item.(map[string]any); ok {
			entries = append(entries, entry)
		}
	}
	return entries
}

// withoutTimes returns the content of obj without the times in managedFields.
func withoutTimes(obj *unstructured.Unstructured) map[string]any {
	var entries []any
	for _, entry := range managersOf(obj) {
		entries = append(entries, withField(entry, "time", nil))
	}
	return withField(obj.Object, "metadata", withField(metadataOf(obj), "managedFields", entries))
}

// withField returns a copy of a map with one field set.
func withField(content map[string]any, field string, value any) map[string]any {
	out := make(map[string]any, len(content)+1)
	maps.Copy(out, content)
	out[field] = value
	return out
}

func text(value any) string {
	s, _ := value.(string)
	return s
}
