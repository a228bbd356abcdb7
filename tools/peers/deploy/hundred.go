package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

//go:embed testdata/hundred.yaml
var manifests []byte

// manifest returns the committed objects. They are shared.
var manifest = sync.OnceValues(func() ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), 4096)
	for {
		obj := &unstructured.Unstructured{}
		switch err := decoder.Decode(obj); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, fmt.Errorf("testdata/hundred.yaml: %w", err)
		}
		objects = append(objects, obj)
	}
})

// hundred returns the committed objects in a namespace.
func hundred(where string) ([]*unstructured.Unstructured, error) {
	shared, err := manifest()
	if err != nil {
		return nil, err
	}
	objects := make([]*unstructured.Unstructured, len(shared))
	for i, obj := range shared {
		objects[i] = obj.DeepCopy()
		objects[i].SetNamespace(where)
		if subjects, ok := objects[i].Object["subjects"].([]any); ok {
			subjects[0].(map[string]any)["namespace"] = where
		}
	}
	return objects, nil
}

// thousand returns the committed objects ten times, under other names.
func thousand(where string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for i := range 10 {
		more, err := hundred(where)
		if err != nil {
			return nil, err
		}
		for _, obj := range more {
			obj.SetName(fmt.Sprintf("%s-%d", obj.GetName(), i))
		}
		objects = append(objects, more...)
	}
	return objects, nil
}

// changed returns the committed objects with another value in one field of each.
func changed(where string) ([]*unstructured.Unstructured, error) {
	objects, err := hundred(where)
	for _, obj := range objects {
		switch obj.GetKind() {
		case "ConfigMap":
			data := obj.Object["data"].(map[string]any)
			data[slices.Min(slices.Collect(maps.Keys(data)))] = "other"
		case "Service":
			first(obj.Object, "spec", "ports")["port"] = int64(81)
		case "Deployment":
			first(obj.Object, "spec", "template", "spec", "containers")["image"] = "registry.example.invalid/shop/other:1"
		case "ServiceAccount":
			obj.Object["automountServiceAccountToken"] = false
		case "Role":
			first(obj.Object, "rules")["verbs"] = []any{"get"}
		case "RoleBinding":
			first(obj.Object, "subjects")["name"] = "other"
		}
	}
	return objects, err
}

// first returns the first item of a list.
func first(content map[string]any, path ...string) map[string]any {
	for _, field := range path[:len(path)-1] {
		content = content[field].(map[string]any)
	}
	return content[path[len(path)-1]].([]any)[0].(map[string]any)
}

// kinds returns the kinds of objects.
func kinds(objects []*unstructured.Unstructured) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	seen := map[schema.GroupVersionKind]bool{}
	for _, obj := range objects {
		if kind := obj.GroupVersionKind(); !seen[kind] {
			seen[kind] = true
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
