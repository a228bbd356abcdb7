package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// resourceFile is a resource of a file.
type resourceFile struct {
	// origin names the file and the resource.
	origin string
	object *unstructured.Unstructured
	// twice describes keys that the document has twice. It is empty if there are none.
	twice string
}

func objectsOf(files []resourceFile) []*unstructured.Unstructured {
	objects := make([]*unstructured.Unstructured, len(files))
	for i, file := range files {
		objects[i] = file.object
	}
	return objects
}

// readResources reads every document of the files that a flag names, "-" being standard input. Of a directory it reads
// the files *.yaml, *.yml and *.json directly inside, by name. It skips empty documents. The error names everything
// that can't be read.
func readResources(flag string, names []string) ([]resourceFile, error) {
	var resources []resourceFile
	var errs []error
	for _, name := range names {
		for _, file := range filesOf(name) {
			content, err := readFile(file)
			if err != nil {
				errs = append(errs, Usage("%s: %w", flag, err))
				continue
			}
			found, err := parseResources(file, content)
			if err != nil {
				errs = append(errs, Usage("%s %s: %w", flag, file, err))
			}
			resources = append(resources, found...)
		}
		if len(errs) == 0 && len(resources) == 0 {
			errs = append(errs, Usage("%s %s: holds no resource", flag, name))
		}
	}
	return resources, errors.Join(errs...)
}

// filesOf returns the files of a directory that are read. If name is no directory, it returns name, and readFile
// reports errors.
func filesOf(name string) (files []string) {
	entries, err := os.ReadDir(name)
	if err != nil || name == "-" {
		return []string{name}
	}
	for _, entry := range entries {
		if !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())) {
			files = append(files, filepath.Join(name, entry.Name()))
		}
	}
	return files
}

func readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(name)
}

func parseResources(name string, content []byte) ([]resourceFile, error) {
	var resources []resourceFile
	var errs []error
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for number := 1; ; number++ {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return resources, errors.Join(errs...)
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", number, err)
		}
		objects, err := parseDocument(document)
		if err != nil {
			errs = append(errs, fmt.Errorf("document %d: %w", number, err))
		}
		twice := keysTwice(document)
		for _, obj := range objects {
			resources = append(resources, resourceFile{fmt.Sprintf("%s, %s %s", name, obj.GetKind(), obj.GetName()), obj, twice})
			twice = ""
		}
	}
}

// itemsOf returns the objects of a list, such as the output of kubectl get.
func itemsOf(list *unstructured.Unstructured) (items []*unstructured.Unstructured, err error) {
	var errs []error
	err = list.EachListItem(func(item runtime.Object) error {
		obj, ok := item.(*unstructured.Unstructured)
		if !ok || obj.GetAPIVersion() == "" || obj.GetName() == "" {
			errs = append(errs, errors.New("an item of the list has no apiVersion, kind or name"))
			return nil
		}
		items = append(items, asRendered(obj))
		return nil
	})
	return items, errors.Join(append(errs, err)...)
}

// keysTwice describes the keys that a valid document has twice. Only the last value of such a key counts.
func keysTwice(document []byte) string {
	_, err := yaml.YAMLToJSONStrict(document)
	if err == nil {
		return ""
	}
	text := strings.TrimSpace(strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:"))
	return strings.ReplaceAll(text, "\n  ", ", ")
}

// parseDocument returns the object of a document, the objects if the document is a list, or nothing if it is empty.
func parseDocument(document []byte) ([]*unstructured.Unstructured, error) {
	content, err := yaml.YAMLToJSON(document)
	if err != nil {
		return nil, fmt.Errorf("invalid YAML: %w", err)
	}
	if text := string(content); text == "null" || text == "{}" {
		return nil, nil
	}
	obj := &unstructured.Unstructured{}
	// UnmarshalJSON of the object decodes integers as int64.
	if err := obj.UnmarshalJSON(content); err != nil || obj.GetAPIVersion() == "" {
		return nil, errors.New("not a Kubernetes object: apiVersion and kind are needed")
	}
	if obj.IsList() {
		return itemsOf(obj)
	}
	if obj.GetName() == "" {
		return nil, fmt.Errorf("%s: metadata.name is missing", obj.GetKind())
	}
	return []*unstructured.Unstructured{asRendered(obj)}, nil
}

// asRendered returns a resource as it was before its deletion: the file may have been saved from a cluster while the
// resource was being deleted.
func asRendered(obj *unstructured.Unstructured) *unstructured.Unstructured {
	unstructured.RemoveNestedField(obj.Object, "metadata", "deletionTimestamp")
	unstructured.RemoveNestedField(obj.Object, "metadata", "deletionGracePeriodSeconds")
	return obj
}
