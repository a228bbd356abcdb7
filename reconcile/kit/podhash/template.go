package podhash

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// templates has the kinds with Pods, and the path of fields from the object to its template. A Pod is its own template.
var templates = map[schema.GroupKind][]string{
	{Kind: "Pod"}:                        {},
	{Kind: "ReplicationController"}:      {"spec", "template"},
	{Group: "apps", Kind: "Deployment"}:  {"spec", "template"},
	{Group: "apps", Kind: "ReplicaSet"}:  {"spec", "template"},
	{Group: "apps", Kind: "StatefulSet"}: {"spec", "template"},
	{Group: "apps", Kind: "DaemonSet"}:   {"spec", "template"},
	{Group: "batch", Kind: "Job"}:        {"spec", "template"},
	{Group: "batch", Kind: "CronJob"}:    {"spec", "jobTemplate", "spec", "template"},
}

// once reports whether the Pods of an object of a kind are started once: their template can't be changed.
func once(kind schema.GroupKind) bool {
	return kind == schema.GroupKind{Kind: "Pod"} || kind == schema.GroupKind{Group: "batch", Kind: "Job"}
}

// find returns the Pod template of an object and its path. The template is nil if the object has none.
func find(obj *unstructured.Unstructured) (template map[string]any, path []string) {
	path, known := templates[obj.GroupVersionKind().GroupKind()]
	if !known {
		return nil, nil
	}
	template = obj.Object
	for _, field := range path {
		template = asMap(template[field])
	}
	return template, path
}

// annotation returns an annotation of the template of an object.
func annotation(obj *unstructured.Unstructured, key string) (value string, found bool) {
	template, _ := find(obj)
	value, found = asMap(asMap(template["metadata"])["annotations"])[key].(string)
	return value, found
}

// annotated returns obj with an annotation in the template at path. It shares everything else with obj. If the metadata
// or the annotations of the template aren't maps, it returns obj: the cluster refuses such an object.
func annotated(obj *unstructured.Unstructured, path []string, key, value string) *unstructured.Unstructured {
	content := maps.Clone(obj.Object)
	at := content
	for _, field := range append(append([]string{}, path...), "metadata", "annotations") {
		inner, isMap := at[field].(map[string]any)
		if !isMap && at[field] != nil {
			return obj
		}
		if inner = maps.Clone(inner); inner == nil {
			inner = map[string]any{}
		}
		at[field], at = inner, inner
	}
	at[key] = value
	return &unstructured.Unstructured{Object: content}
}
