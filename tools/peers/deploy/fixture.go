package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// namespace is where the objects are.
const namespace = "shop"

// mixed returns n objects: of each hundred 40 ConfigMaps, 20 Services, 20 Deployments, 10 ServiceAccounts, 5 Roles and
// 5 RoleBindings.
func mixed(n int) []*unstructured.Unstructured {
	objects := make([]*unstructured.Unstructured, n)
	for i := range objects {
		objects[i] = object(i)
	}
	return objects
}

func object(i int) *unstructured.Unstructured {
	name := fmt.Sprintf("object-%d", i)
	switch place := i % 100; {
	case place < 40:
		return made("v1", "ConfigMap", name, map[string]any{"data": map[string]any{"color": "blue", "size": fmt.Sprint(i), "note": "made up"}})
	case place < 60:
		return made("v1", "Service", name, map[string]any{"spec": map[string]any{
			"selector": map[string]any{"app": name},
			"ports":    []any{map[string]any{"name": "http", "port": int64(80), "protocol": "TCP", "targetPort": "http"}},
		}})
	case place < 80:
		return made("apps/v1", "Deployment", name, deploymentOf(name))
	case place < 90:
		return made("v1", "ServiceAccount", name, map[string]any{"automountServiceAccountToken": false})
	case place < 95:
		return made("rbac.authorization.k8s.io/v1", "Role", name, map[string]any{"rules": []any{map[string]any{
			"apiGroups": []any{""}, "resources": []any{"configmaps", "secrets"}, "verbs": []any{"get", "list", "watch"},
		}}})
	}
	return made("rbac.authorization.k8s.io/v1", "RoleBinding", name, map[string]any{
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
		"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": name, "namespace": namespace}},
	})
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
		"labels": map[string]any{"app.kubernetes.io/name": name, "app.kubernetes.io/managed-by": "operkit"},
	}
	return &unstructured.Unstructured{Object: content}
}
