package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// namespace is where the objects are.
const namespace = "shop"

// kind is that of the resource.
var kind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Shop"}

// resource is what is reconciled.
func resource() *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(3)}}}
	obj.SetGroupVersionKind(kind)
	obj.SetNamespace(namespace)
	obj.SetName("shop")
	return obj
}

// largeResource is a resource with a spec of 2 kB.
func largeResource() *unstructured.Unstructured {
	obj := resource()
	var containers []any
	for i := range 7 {
		spec := deploymentOf(fmt.Sprintf("shop-%d", i))["spec"].(map[string]any)
		pod := spec["template"].(map[string]any)["spec"].(map[string]any)
		containers = append(containers, pod["containers"].([]any)...)
	}
	obj.Object["spec"] = map[string]any{
		"replicas": int64(2), "selector": map[string]any{"matchLabels": map[string]any{"app": "shop"}},
		"schedule": "*/5 * * * *", "storage": map[string]any{"class": "fast", "size": "10Gi", "retain": true},
		"template": map[string]any{"spec": map[string]any{"containers": containers}},
	}
	return obj
}

// objects renders the n objects of a component: of each ten 4 ConfigMaps, 2 Services, 2 Deployments, a ServiceAccount
// and a Role.
func objects(component, n int) []*unstructured.Unstructured {
	rendered := make([]*unstructured.Unstructured, n)
	for i := range rendered {
		rendered[i] = object(fmt.Sprintf("c%d-%d", component, i), i%10)
	}
	return rendered
}

func object(name string, place int) *unstructured.Unstructured {
	switch {
	case place < 4:
		return made("v1", "ConfigMap", name, map[string]any{"data": map[string]any{"color": "blue", "size": name, "note": "made up"}})
	case place < 6:
		return made("v1", "Service", name, map[string]any{"spec": map[string]any{
			"selector": map[string]any{"app": name},
			"ports":    []any{map[string]any{"name": "http", "port": int64(80), "protocol": "TCP", "targetPort": "http"}},
		}})
	case place < 8:
		return made("apps/v1", "Deployment", name, deploymentOf(name))
	case place < 9:
		return made("v1", "ServiceAccount", name, map[string]any{"automountServiceAccountToken": false})
	}
	return made("rbac.authorization.k8s.io/v1", "Role", name, map[string]any{"rules": []any{map[string]any{
		"apiGroups": []any{""}, "resources": []any{"configmaps", "secrets"}, "verbs": []any{"get", "list", "watch"},
	}}})
}

func deploymentOf(name string) map[string]any {
	return map[string]any{"spec": map[string]any{
		"replicas": int64(2),
		"selector": map[string]any{"matchLabels": map[string]any{"app": name}},
		"template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"app": name}},
			"spec": map[string]any{"containers": []any{map[string]any{
				"name": "main", "image": "example.invalid/" + name + ":1",
				"ports":     []any{map[string]any{"name": "http", "containerPort": int64(8080), "protocol": "TCP"}},
				"env":       []any{map[string]any{"name": "COLOR", "value": "blue"}, map[string]any{"name": "SIZE", "value": "1"}},
				"resources": map[string]any{"requests": map[string]any{"cpu": "10m", "memory": "16Mi"}, "limits": map[string]any{"memory": "64Mi"}},
			}}},
		},
	}}
}

func made(apiVersion, kind, name string, content map[string]any) *unstructured.Unstructured {
	content["apiVersion"], content["kind"] = apiVersion, kind
	content["metadata"] = map[string]any{
		"name": name, "namespace": namespace,
		"labels": map[string]any{"app.kubernetes.io/name": name, "app.kubernetes.io/managed-by": "shop-operator"},
	}
	return &unstructured.Unstructured{Object: content}
}
