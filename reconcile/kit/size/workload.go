package size

import (
	"maps"
	"slices"

	"github.com/operkit/operkit/reconcile/kit/internal/podtemplate"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// hasReplicas are the kinds with a number of replicas.
var hasReplicas = map[schema.GroupKind]bool{
	{Kind: "ReplicationController"}:      true,
	{Group: "apps", Kind: "Deployment"}:  true,
	{Group: "apps", Kind: "ReplicaSet"}:  true,
	{Group: "apps", Kind: "StatefulSet"}: true,
}

// Set returns obj with the values: its number of replicas, if it has one, and the resources of the containers of its
// Pod template. Requests and limits become those of the values; other parts of a container's resources stay. obj isn't
// changed, and the result shares parts of it. An object without Pods is returned as it is.
func (v Values) Set(obj *unstructured.Unstructured) *unstructured.Unstructured {
	obj = v.setResources(obj)
	if v.Replicas != nil && hasReplicas[obj.GroupVersionKind().GroupKind()] {
		obj = podtemplate.With(obj, int64(*v.Replicas), "spec", "replicas")
	}
	return obj
}

// containerFields are the fields of a Pod spec that size sets containers in.
var containerFields = []string{"containers", "initContainers"}

func (v Values) setResources(obj *unstructured.Unstructured) *unstructured.Unstructured {
	return withContainers(obj, func(field string, container map[string]any) map[string]any {
		name, _ := container["name"].(string)
		resources, has := v.ResourcesOf(name)
		if field != "containers" {
			resources, has = v.Containers[name]
		}
		if !has {
			return container
		}
		return withResources(container, listOf(resources.Requests), listOf(resources.Limits))
	})
}

// as returns obj with the requests and limits that the containers of live have, where the values set them.
func (v Values) as(obj, live *unstructured.Unstructured) *unstructured.Unstructured {
	present := map[string]map[string]any{}
	withContainers(live, func(field string, container map[string]any) map[string]any {
		name, _ := container["name"].(string)
		resources, _ := container["resources"].(map[string]any)
		present[field+"/"+name] = resources
		return container
	})
	return withContainers(obj, func(field string, container map[string]any) map[string]any {
		name, _ := container["name"].(string)
		_, named := v.Containers[name]
		resources, is := present[field+"/"+name]
		if !is || !named && (field != "containers" || v.Resources == nil) {
			return container
		}
		return withResources(container, resources["requests"], resources["limits"])
	})
}

// withContainers returns obj with each container and init container as change returns it. change must not change its
// argument. Items that aren't maps stay.
func withContainers(obj *unstructured.Unstructured, change func(field string, container map[string]any) map[string]any) *unstructured.Unstructured {
	template, path, known := podtemplate.Find(obj)
	spec, _ := template["spec"].(map[string]any)
	if !known || spec == nil {
		return obj
	}
	for _, field := range containerFields {
		list, isList := spec[field].([]any)
		if !isList {
			continue
		}
		list = slices.Clone(list)
		for i, item := range list {
			if container, isMap := item.(map[string]any); isMap {
				list[i] = change(field, container)
			}
		}
		obj = podtemplate.With(obj, list, append(slices.Clone(path), "spec", field)...)
	}
	return obj
}

// containersOf returns the names of the containers and init containers of an object.
func containersOf(obj *unstructured.Unstructured) (names []string) {
	withContainers(obj, func(_ string, container map[string]any) map[string]any {
		if name, isText := container["name"].(string); isText {
			names = append(names, name)
		}
		return container
	})
	return names
}

// withResources returns a copy of a container with requests and limits, nil for none.
func withResources(container map[string]any, requests, limits any) map[string]any {
	resources, isMap := container["resources"].(map[string]any)
	if !isMap && container["resources"] != nil {
		return container // the cluster refuses it
	}
	container, resources = maps.Clone(container), maps.Clone(resources)
	if resources == nil {
		resources = map[string]any{}
	}
	for field, list := range map[string]any{"requests": requests, "limits": limits} {
		if list == nil {
			delete(resources, field)
		} else {
			resources[field] = list
		}
	}
	container["resources"] = resources
	if len(resources) == 0 {
		delete(container, "resources")
	}
	return container
}

// listOf returns quantities as an object has them, nil for none.
func listOf(list corev1.ResourceList) any {
	if len(list) == 0 {
		return nil
	}
	out := make(map[string]any, len(list))
	for name, quantity := range list {
		out[string(name)] = quantity.String()
	}
	return out
}
