package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// operatorUser is the operator's user name.
const operatorUser = "guestbook-operator"

var (
	configMapKind   = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	secretKind      = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	serviceKind     = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	podKind         = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	deploymentKind  = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	statefulSetKind = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}
)

// childKinds are what a guestbook consists of.
var childKinds = []schema.GroupVersionKind{
	configMapKind, secretKind, serviceKind, deploymentKind, statefulSetKind, podKind,
}

// manifest reads the one object of this kind in a YAML file.
func manifest(path, kind string) (*unstructured.Unstructured, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		var obj unstructured.Unstructured
		err := documents.Decode(&obj.Object)
		switch {
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("%s: holds no %s", filepath.Base(path), kind)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		case obj.GetKind() == kind:
			return &obj, nil
		}
	}
}

// boundTo returns a ClusterRoleBinding that gives user the rights of a ClusterRole in all namespaces.
func boundTo(user string, role *unstructured.Unstructured) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1",
		"kind":       "ClusterRoleBinding",
		"metadata":   map[string]any{"name": user},
		"roleRef":    map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role.GetName()},
		"subjects":   []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}},
	}}
}

// named returns an object with only a name, for example to delete it.
func named(ref deploy.Ref) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(ref.Kind)
	obj.SetNamespace(ref.Namespace)
	obj.SetName(ref.Name)
	return obj
}
