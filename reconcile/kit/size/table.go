package size

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Table has the values of each component in each size. It is valid, never changes, and is safe for concurrent use. Read
// and ReadYAML make it.
type Table struct {
	content map[string]any
	sizes   map[string]map[string]Values
	// components are the names of the components, in order.
	components []string
}

// Read reads a table: a map from sizes to components to their values.
//
//	replicas    a whole number, or absent
//	resources   requests and limits of each container that isn't in containers
//	containers  requests and limits of containers and init containers, by their names
//
// A number in place of the values means replicas. Quantities may be numbers, of CPUs or bytes. content isn't changed.
// The error names everything that is wrong: keys that aren't known, values of another form, replicas that are negative
// or more than an int32 holds, requests above their limits, a component that not every size has, and anything empty.
func Read(content map[string]any) (*Table, error) {
	t, err := read(content)
	if err != nil {
		return nil, fmt.Errorf("table of sizes: %w", err)
	}
	return t, nil
}

// read returns the table with an error, too: it has the names of all components that could be read.
func read(content map[string]any) (*Table, error) {
	t := &Table{sizes: map[string]map[string]Values{}}
	f := &faults{}
	if len(content) == 0 {
		f.add("", "it has no sizes: add one")
	}
	for _, size := range slices.Sorted(maps.Keys(content)) {
		t.read(f, size, content[size])
	}
	t.compare(f)
	err := f.err()
	if err == nil {
		t.content = runtime.DeepCopyJSON(plain(inFull(content)).(map[string]any))
	}
	return t, err
}

// inFull returns a table with maps in place of numbers of replicas, so that layers merge with them. It doesn't change
// content.
func inFull(content map[string]any) map[string]any {
	out := maps.Clone(content)
	for size, value := range content {
		components, isMap := value.(map[string]any)
		if !isMap {
			continue
		}
		components = maps.Clone(components)
		for component, values := range components {
			if _, isNumber := numberOf(values); isNumber {
				components[component] = map[string]any{"replicas": values}
			}
		}
		out[size] = components
	}
	return out
}

// ReadYAML is Read for text in YAML or JSON. A key that a map has twice is an error.
func ReadYAML(text []byte) (*Table, error) {
	var content map[string]any
	if err := yaml.UnmarshalStrict(text, &content); err != nil {
		return nil, fmt.Errorf("table of sizes: it isn't a YAML map: %w", err)
	}
	return Read(content)
}

// read reads one size.
func (t *Table) read(f *faults, size string, content any) {
	components, isMap := content.(map[string]any)
	if !isMap || len(components) == 0 {
		f.add(size, "it has to be a map with the values of components")
		return
	}
	if strings.TrimSpace(size) == "" {
		f.add(size, "a size needs a name")
	}
	t.sizes[size] = map[string]Values{}
	for _, component := range slices.Sorted(maps.Keys(components)) {
		t.sizes[size][component] = readValues(f, size+"."+component, components[component], true)
		if !slices.Contains(t.components, component) {
			t.components = append(t.components, component)
		}
	}
	slices.Sort(t.components)
}

// compare finds components that not every size has.
func (t *Table) compare(f *faults) {
	for _, size := range t.Sizes() {
		for _, component := range t.components {
			if _, has := t.sizes[size][component]; !has {
				f.add(size, "it lacks the component %s, which other sizes have: add it", component)
			}
		}
	}
}

// Sizes returns the names of the sizes, in order.
func (t *Table) Sizes() []string { return slices.Sorted(maps.Keys(t.sizes)) }

// Components returns the names of the components, in order. The caller may change the slice.
func (t *Table) Components() []string { return slices.Clone(t.components) }

// For returns the values of a component in a size. If the table doesn't have the size or the component, the error is a
// request.Configuration error with the names that the table has.
func (t *Table) For(size, component string) (Values, error) {
	if err := t.lacks(size); err != nil {
		return Values{}, err
	}
	values, has := t.sizes[size][component]
	if !has {
		return Values{}, request.Configuration("size %q: there is no component %q in the table: use one of %s", size, component, strings.Join(t.components, ", "))
	}
	return values.clone(), nil
}

// lacks returns an error if the table doesn't have a size.
func (t *Table) lacks(size string) error {
	if _, has := t.sizes[size]; has {
		return nil
	}
	return request.Configuration("there is no size %q: use one of %s", size, strings.Join(t.Sizes(), ", "))
}

func (t *Table) has(component string) bool {
	_, found := slices.BinarySearch(t.components, component)
	return found
}

// faults collects what is wrong in a document, each with its place.
type faults struct {
	// prefix is the path of the document, with its dot.
	prefix string
	errs   []error
}

func (f *faults) add(at, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if at = f.prefix + at; at != "" {
		text = at + ": " + text
	}
	f.errs = append(f.errs, errors.New(text))
}

func (f *faults) err() error { return errors.Join(f.errs...) }

// plain returns a value with numbers as int64 or float64.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = plain(item)
		}
		return out
	case int:
		return int64(v)
	case int32:
		return int64(v)
	}
	return value
}
