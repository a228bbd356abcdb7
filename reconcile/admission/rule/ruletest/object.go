package ruletest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// definitionKind is the kind of definitions.
const definitionKind = "CustomResourceDefinition"

// Read returns the CustomResourceDefinition in a file of YAML or JSON. It returns an error if the file has none, or
// more than one.
func Read(file string) (*unstructured.Unstructured, error) {
	content, err := os.ReadFile(file) //nolint:gosec // the caller names the file
	if err != nil {
		return nil, err
	}
	var found []*unstructured.Unstructured
	for _, document := range documents(string(content)) {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if object.GetKind() == definitionKind {
			found = append(found, object)
		}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%s: it has %d definitions: use a file with one %s", file, len(found), definitionKind)
	}
	return unstructuredOf(found[0])
}

// unstructuredOf returns an object with the numbers that the API server reads: a copy of an Unstructured or a map, or
// the JSON of a typed object.
func unstructuredOf(object any) (*unstructured.Unstructured, error) {
	switch typed := object.(type) {
	case nil:
		return nil, errors.New("nil object")
	case *unstructured.Unstructured:
		if typed == nil {
			return nil, errors.New("nil object")
		}
		object = typed.Object
	case string, []byte:
		return nil, fmt.Errorf("object is a %T: pass an Unstructured, a map or a typed object", object)
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("object of type %T: %w", object, err)
	}
	result := &unstructured.Unstructured{}
	if err := result.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("object of type %T: %w: set apiVersion and kind", object, err)
	}
	return result, nil
}

// asStored completes the metadata of an object, and that of the object before, as the API server does before it
// validates them.
func asStored(object, before *unstructured.Unstructured, namespaced bool) {
	complete(object, namespaced)
	if before == nil {
		return
	}
	complete(before, namespaced)
	if before.GetGeneration() == 0 {
		before.SetGeneration(1)
	}
	if before.GetResourceVersion() == "" {
		before.SetResourceVersion("1")
	}
	if object.GetName() == "" {
		object.SetName(before.GetName())
	}
	object.SetUID(before.GetUID())
	object.SetCreationTimestamp(before.GetCreationTimestamp())
	object.SetGeneration(before.GetGeneration())
	if object.GetResourceVersion() == "" {
		object.SetResourceVersion(before.GetResourceVersion())
	}
}
