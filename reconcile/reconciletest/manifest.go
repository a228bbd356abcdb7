package reconciletest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	apijson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// readManifests reads the objects of a file, or of the YAML and JSON files directly in a folder, by name.
func readManifests(path string) ([]*unstructured.Unstructured, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	files := []string{path}
	if info.IsDir() {
		files = nil
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())) && !entry.IsDir() {
				files = append(files, filepath.Join(path, entry.Name()))
			}
		}
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// parse reads the documents of YAML or JSON text; empty ones are left out.
func parse(text []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var raw runtime.RawExtension
		switch err := decoder.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		}
		document := bytes.TrimSpace(raw.Raw)
		if len(document) == 0 || bytes.Equal(document, []byte("null")) {
			continue
		}
		obj, err := decoded(document)
		if err != nil {
			return nil, err
		}
		objects = append(objects, obj)
	}
}

func decoded(document []byte) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{}
	if err := apijson.Unmarshal(document, &obj.Object); err != nil {
		return nil, err
	}
	if obj.GetKind() == "" || obj.GetAPIVersion() == "" {
		return nil, errors.New("an object has no apiVersion and kind")
	}
	metadata, _ := obj.Object["metadata"].(map[string]any)
	if created, ok := metadata["creationTimestamp"]; ok && created == nil {
		delete(metadata, "creationTimestamp")
	}
	return obj, nil
}

// toObjects are the objects that a test has given in one of many forms, as copies.
func toObjects(value any) ([]*unstructured.Unstructured, error) {
	switch v := value.(type) {
	case nil:
		return nil, errors.New("it is nil")
	case string:
		objects, err := parse([]byte(v))
		if err == nil && len(objects) == 0 {
			err = errors.New("the text holds no object")
		}
		return objects, err
	case *unstructured.Unstructured:
		if v == nil {
			return nil, errors.New("it is nil")
		}
		value = v.Object
	}
	document, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	obj, err := decoded(document)
	if err != nil {
		return nil, fmt.Errorf("a value of type %T: %w", value, err)
	}
	return []*unstructured.Unstructured{obj}, nil
}

// yamlOf is an object as YAML.
func yamlOf(obj *unstructured.Unstructured) (string, error) {
	var out bytes.Buffer
	encoder := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, nil, nil, serializer.SerializerOptions{Yaml: true})
	err := encoder.Encode(obj, &out)
	return out.String(), err
}
