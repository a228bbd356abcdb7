package operator

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// resourceFile is one document of a file.
type resourceFile struct {
	origin string
	object *unstructured.Unstructured
}

// readResources reads every document of the files, "-" being standard input. Empty
// documents are left out, a namespace that is missing is "default" (spec: operator 6).
func readResources(files []string) ([]resourceFile, error) {
	var resources []resourceFile
	for _, name := range files {
		content, err := readFile(name)
		if err != nil {
			return nil, usage("--cr: %w", err)
		}
		found, err := parseResources(name, content)
		if err != nil {
			return nil, usage("--cr %s: %w", name, err)
		}
		resources = append(resources, found...)
	}
	return resources, nil
}

func readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(name)
}

func parseResources(name string, content []byte) ([]resourceFile, error) {
	var resources []resourceFile
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for number := 1; ; number++ {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", number, err)
		}
		obj, err := parseResource(document)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", number, err)
		}
		if obj == nil {
			continue
		}
		resources = append(resources, resourceFile{fmt.Sprintf("%s, %s %s", name, obj.GetKind(), obj.GetName()), obj})
	}
	if len(resources) == 0 {
		return nil, errors.New("holds no resource")
	}
	return resources, nil
}

// parseResource returns nil for a document that says nothing.
func parseResource(document []byte) (*unstructured.Unstructured, error) {
	content, err := yaml.YAMLToJSON(document)
	if err != nil {
		return nil, fmt.Errorf("it is no YAML: %w", err)
	}
	if text := string(content); text == "null" || text == "{}" {
		return nil, nil
	}
	obj := &unstructured.Unstructured{}
	// Decoding by the objects' own rules keeps integers integers.
	if err := obj.UnmarshalJSON(content); err != nil || obj.GetAPIVersion() == "" {
		return nil, errors.New("it is no Kubernetes object: apiVersion and kind are needed")
	}
	if obj.GetName() == "" {
		return nil, fmt.Errorf("%s: metadata.name is missing", obj.GetKind())
	}
	if obj.GetNamespace() == "" {
		obj.SetNamespace("default")
	}
	// A resource that was saved from a cluster may be on its way out there; here it is rendered.
	unstructured.RemoveNestedField(obj.Object, "metadata", "deletionTimestamp")
	unstructured.RemoveNestedField(obj.Object, "metadata", "deletionGracePeriodSeconds")
	return obj, nil
}
