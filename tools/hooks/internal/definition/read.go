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

// Set has the definitions of some files. The zero value has none.
type Set struct {
	Composites []*Composite
	Decorators []*Decorator
}

// maxFile is the size of the largest file that is read, in bytes.
const maxFile = 10 << 20

// ReadFiles reads the definitions in YAML and JSON files, and in the files of folders, without subfolders. Objects of
// other kinds are ignored. The error has all mistakes of all files.
func ReadFiles(paths ...string) (all Set, err error) {
	var errs []error
	for _, path := range paths {
		files, err := filesAt(path)
		errs = append(errs, err)
		for _, file := range files {
			some, err := readFile(file)
			errs = append(errs, err)
			all.Composites = append(all.Composites, some.Composites...)
			all.Decorators = append(all.Decorators, some.Decorators...)
		}
	}
	errs = append(errs, all.checkNames())
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

func readFile(path string) (Set, error) {
	file, err := os.Open(path)
	if err != nil {
		return Set{}, err
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return Set{}, err
	}
	if len(content) > maxFile {
		return Set{}, fmt.Errorf("%s: larger than %d bytes: split the file", path, maxFile)
	}
	found, err := Read(content)
	if err != nil {
		return found, fmt.Errorf("%s: %w", path, err)
	}
	return found, nil
}

// Read reads the definitions among the objects of a text in YAML or JSON. Objects of other kinds are ignored. The error
// has all mistakes of all definitions; the Set has those without a mistake.
func Read(content []byte) (found Set, err error) {
	var errs []error
	documents := yamlutil.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return found, errors.Join(append(errs, found.checkNames())...)
		}
		if err != nil {
			return found, errors.Join(append(errs, fmt.Errorf("document %d: %w", n, err))...)
		}
		if err := found.add(document); err != nil {
			errs = append(errs, fmt.Errorf("document %d: %w", n, err))
		}
	}
}

// add adds the definition that a document is.
func (s *Set) add(document []byte) error {
	text, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return err
	}
	obj := &unstructured.Unstructured{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &obj.Object); err != nil {
		return err
	}
	if obj.IsList() && (obj.GetKind() == "List" || obj.GroupVersionKind().Group == GroupVersion.Group) {
		return obj.EachListItem(func(item runtime.Object) error {
			one, ok := item.(*unstructured.Unstructured)
			if !ok {
				return fmt.Errorf("list: unexpected item %T", item)
			}
			return s.addObject(one)
		})
	}
	return s.addObject(obj)
}

// addObject adds the definition that an object is.
func (s *Set) addObject(obj *unstructured.Unstructured) error {
	switch obj.GroupVersionKind() {
	case CompositeKind:
		composite, err := NewComposite(obj)
		if err == nil {
			s.Composites = append(s.Composites, composite)
		}
		return err
	case DecoratorKind:
		decorator, err := NewDecorator(obj)
		if err == nil {
			s.Decorators = append(s.Decorators, decorator)
		}
		return err
	}
	if gvk := obj.GroupVersionKind(); gvk.Group == GroupVersion.Group && (gvk.Kind == CompositeKind.Kind || gvk.Kind == DecoratorKind.Kind) {
		return fmt.Errorf("%s %s: unknown version %q: use %s", gvk.Kind, obj.GetName(), gvk.Version, GroupVersion.Version)
	}
	return nil
}

// checkNames returns an error for each name that two definitions of a kind have.
func (s *Set) checkNames() error {
	var errs []error
	seen := map[string]bool{}
	note := func(obj *unstructured.Unstructured) {
		name := nameOf(obj)
		if seen[name] {
			errs = append(errs, fmt.Errorf("%s: defined twice: rename one of the definitions", name))
		}
		seen[name] = true
	}
	for _, one := range s.Composites {
		note(one.Object)
	}
	for _, one := range s.Decorators {
		note(one.Object)
	}
	return errors.Join(errs...)
}

// NewComposite returns the Composite that an object defines. The error has all mistakes. obj isn't changed, and must
// not be changed later.
func NewComposite(obj *unstructured.Unstructured) (*Composite, error) {
	c := &Composite{Object: obj}
	if err := decodeSpec(obj, &c.Spec); err != nil {
		return nil, err
	}
	return c, named(obj, c.Spec.check())
}

// NewDecorator returns the Decorator that an object defines. The error has all mistakes. obj isn't changed, and must
// not be changed later.
func NewDecorator(obj *unstructured.Unstructured) (*Decorator, error) {
	d := &Decorator{Object: obj}
	if err := decodeSpec(obj, &d.Spec); err != nil {
		return nil, err
	}
	return d, named(obj, d.Spec.check())
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
