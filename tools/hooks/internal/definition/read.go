package definition

import (
	"bufio"
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
	yamlutil "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// maxFile is the size of the largest file that is read, in bytes.
const maxFile = 10 << 20

// ReadFiles reads the definitions in YAML and JSON files, and in the files of folders, without subfolders. Objects of
// other kinds are ignored. The error has all mistakes of all files.
func ReadFiles(paths ...string) (all []*Controller, err error) {
	var errs []error
	for _, path := range paths {
		files, err := filesAt(path)
		errs = append(errs, err)
		for _, file := range files {
			some, err := readFile(file)
			errs = append(errs, err)
			all = append(all, some...)
		}
	}
	errs = append(errs, checkNames(all))
	return all, errors.Join(errs...)
}

func filesAt(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		if slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())) && !entry.IsDir() {
			files = append(files, filepath.Join(path, entry.Name()))
		}
	}
	return files, nil
}

func readFile(path string) ([]*Controller, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxFile {
		return nil, fmt.Errorf("%s: larger than %d bytes: split the file", path, maxFile)
	}
	found, err := Read(content)
	for _, one := range found {
		one.Dir = filepath.Dir(path)
	}
	if err != nil {
		return found, fmt.Errorf("%s: %w", path, err)
	}
	return found, nil
}

// Read reads the definitions among the objects of a text in YAML or JSON. Objects of other kinds are ignored. The error
// has all mistakes of all definitions; those without a mistake are returned.
func Read(content []byte) (found []*Controller, err error) {
	var errs []error
	documents := yamlutil.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return found, errors.Join(append(errs, checkNames(found))...)
		}
		if err != nil {
			return found, errors.Join(append(errs, fmt.Errorf("document %d: %w", n, err))...)
		}
		some, err := readDocument(document)
		if err != nil {
			errs = append(errs, fmt.Errorf("document %d: %w", n, err))
		}
		found = append(found, some...)
	}
}

// readDocument returns the definitions in a document.
func readDocument(document []byte) (found []*Controller, err error) {
	text, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, err
	}
	obj := &unstructured.Unstructured{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &obj.Object); err != nil {
		return nil, err
	}
	add := func(item runtime.Object) error {
		one, ok := item.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("list: unexpected item %T", item)
		}
		controller, err := New(one)
		if err == nil && controller != nil {
			found = append(found, controller)
		}
		return err
	}
	if obj.IsList() && (obj.GetKind() == "List" || obj.GroupVersionKind().Group == GroupVersion.Group) {
		err = obj.EachListItem(add)
	} else {
		err = add(obj)
	}
	return found, err
}

// New returns the Controller that an object defines, nil for an object of another kind. The error has all mistakes. obj
// isn't changed, and must not be changed later.
func New(obj *unstructured.Unstructured) (*Controller, error) {
	kind := obj.GroupVersionKind()
	style := Style(kind.Kind)
	switch {
	case kind.Group != GroupVersion.Group || style != Composite && style != Decorator:
		return nil, nil //nolint:nilnil // it is no definition
	case kind.Version != GroupVersion.Version:
		return nil, fmt.Errorf("%s: unknown version %q: use %s", nameOf(obj), kind.Version, GroupVersion.Version)
	case style == Composite:
		var spec compositeSpec
		if err := decodeSpec(obj, &spec); err != nil {
			return nil, err
		}
		return &Controller{
			Style: style, Object: obj, Parents: []ParentRule{spec.Parent}, Children: spec.Children, Common: spec.Common,
			GenerateSelector: spec.GenerateSelector,
		}, named(obj, spec.check())
	}
	var spec decoratorSpec
	if err := decodeSpec(obj, &spec); err != nil {
		return nil, err
	}
	return &Controller{Style: style, Object: obj, Parents: spec.Parents, Children: spec.Attachments, Common: spec.Common}, named(obj, spec.check())
}

// checkNames returns an error for each name that two definitions of a kind have.
func checkNames(all []*Controller) error {
	var errs []error
	seen := map[string]bool{}
	for _, one := range all {
		if seen[one.Name()] {
			errs = append(errs, fmt.Errorf("%s: defined twice: rename one of the definitions", one.Name()))
		}
		seen[one.Name()] = true
	}
	return errors.Join(errs...)
}

// decodeSpec decodes the spec of a definition strictly.
func decodeSpec(obj *unstructured.Unstructured, spec any) error {
	if obj.GetName() == "" {
		return fmt.Errorf("%s: metadata.name: Required value: name the definition", obj.GetKind())
	}
	text, err := json.Marshal(obj.Object["spec"])
	if err != nil {
		return named(obj, err)
	}
	unknown, err := kjson.UnmarshalStrict(text, spec)
	if err != nil {
		return named(obj, fmt.Errorf("spec: %w", err))
	}
	if err := errors.Join(unknown...); err != nil {
		return named(obj, fmt.Errorf("spec: %w", err))
	}
	return nil
}

func nameOf(obj *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s", obj.GetKind(), obj.GetName())
}

// named returns an error that names the definition.
func named(obj *unstructured.Unstructured, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", nameOf(obj), err)
}
