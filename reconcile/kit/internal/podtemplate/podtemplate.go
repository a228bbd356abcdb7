package podtemplate

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// paths has the kinds with Pods, and the path of fields from the object to its template. A Pod is its own template.
var paths = map[schema.GroupKind][]string{
	{Kind: "Pod"}:                        {},
	{Kind: "ReplicationController"}:      {"spec", "template"},
	{Group: "apps", Kind: "Deployment"}:  {"spec", "template"},
	{Group: "apps", Kind: "ReplicaSet"}:  {"spec", "template"},
	{Group: "apps", Kind: "StatefulSet"}: {"spec", "template"},
	{Group: "apps", Kind: "DaemonSet"}:   {"spec", "template"},
	{Group: "batch", Kind: "Job"}:        {"spec", "template"},
	{Group: "batch", Kind: "CronJob"}:    {"spec", "jobTemplate", "spec", "template"},
}

// Once reports whether the Pods of an object of a kind are started once: their template can't be changed.
func Once(kind schema.GroupKind) bool {
	return kind == schema.GroupKind{Kind: "Pod"} || kind == schema.GroupKind{Group: "batch", Kind: "Job"}
}

// Find returns the Pod template of obj and its path, which the caller may change. The template is part of obj, and nil
// if there is none. known reports whether the kind of obj has Pods.
func Find(obj *unstructured.Unstructured) (template map[string]any, path []string, known bool) {
	path, known = paths[obj.GroupVersionKind().GroupKind()]
	if !known {
		return nil, nil, false
	}
	template = obj.Object
	for _, field := range path {
		template, _ = template[field].(map[string]any)
	}
	return template, slices.Clone(path), true
}

// With returns obj with value in the field at path. It shares everything else with obj, which isn't changed. Fields on
// the way that are absent become maps. If one of them is something else than a map, With returns obj: the cluster
// refuses such an object. nil removes the field.
func With(obj *unstructured.Unstructured, value any, path ...string) *unstructured.Unstructured {
	content := maps.Clone(obj.Object)
	at, last := content, len(path)-1
	for _, field := range path[:last] {
		inner, isMap := at[field].(map[string]any)
		switch {
		case !isMap && at[field] != nil:
			return obj
		case inner == nil && value == nil:
			return obj
		case inner == nil:
			inner = map[string]any{}
		default:
			inner = maps.Clone(inner)
		}
		at[field], at = inner, inner
	}
	if value == nil {
		delete(at, path[last])
	} else {
		at[path[last]] = value
	}
	return &unstructured.Unstructured{Object: content}
}
