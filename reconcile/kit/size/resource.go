package size

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Of returns the values of a component for a resource: those of the size that the resource names, with its overrides.
// resource isn't changed. Errors are request.Configuration errors that name the field. A component that the table
// doesn't have is an error.
func (t *Table) Of(resource *unstructured.Unstructured, component string, options ...Option) (Values, error) {
	o := newSettings(options)
	if err := o.validate(t); err != nil {
		return Values{}, err
	}
	chosen := o.choose(t, resource.Object)
	if chosen.err != nil {
		return Values{}, chosen.err
	}
	if _, err := t.For(chosen.size, component); err != nil {
		return Values{}, err
	}
	return chosen.of(component), nil
}

// choice is what a resource chooses.
type choice struct {
	table *Table
	size  string
	// overrides are by component.
	overrides map[string]Values
	err       error
}

// of returns the values of a component that the table has.
func (c choice) of(component string) Values {
	return c.overrides[component].over(c.table.sizes[c.size][component])
}

// choose reads the size and the overrides of a resource.
func (o settings) choose(t *Table, resource map[string]any) choice {
	c := choice{table: t}
	if c.size, c.err = o.sizeOf(t, resource); c.err == nil {
		c.overrides, c.err = o.overridesOf(t, c.size, resource)
	}
	return c
}

func (o settings) sizeOf(t *Table, resource map[string]any) (string, error) {
	value, wrong := valueAt(resource, o.field)
	size, isText := value.(string)
	all := strings.Join(t.Sizes(), ", ")
	switch {
	case wrong != "":
		return "", request.Configuration("%s: it isn't a map", wrong)
	case value != nil && !isText:
		return "", request.Configuration("%s: it has to be text: use one of %s", o.field, all)
	case size != "":
		if _, has := t.sizes[size]; !has {
			return "", request.Configuration("%s: there is no size %q: use one of %s", o.field, size, all)
		}
		return size, nil
	case o.fallback == "":
		return "", request.Configuration("%s: it names no size: use one of %s", o.field, all)
	}
	return o.fallback, t.lacks(o.fallback)
}

// overridesOf reads the overrides of all components and checks them over the values of the size.
func (o settings) overridesOf(t *Table, size string, resource map[string]any) (map[string]Values, error) {
	value, wrong := valueAt(resource, o.overrides)
	given, isMap := value.(map[string]any)
	switch {
	case wrong != "":
		return nil, request.Configuration("%s: it isn't a map", wrong)
	case value == nil:
		return nil, nil
	case !isMap:
		return nil, request.Configuration("%s: it has to be a map from components to their values", o.overrides)
	}
	f := &faults{prefix: o.overrides + "."}
	overrides := map[string]Values{}
	for _, component := range slices.Sorted(maps.Keys(given)) {
		switch {
		case given[component] == nil:
			continue
		case !t.has(component):
			f.add(component, "there is no such component in the table: use one of %s", strings.Join(t.components, ", "))
			continue
		}
		wrongs := len(f.errs)
		above := readValues(f, component, given[component], false)
		if overrides[component] = above; len(f.errs) == wrongs {
			above.over(t.sizes[size][component]).check(f, component)
		}
	}
	if err := f.err(); err != nil {
		return nil, request.Configuration("%w", err)
	}
	return overrides, nil
}

// layered returns the table with a layer of a configuration over it. The same table is returned if nothing differs.
// With an error, the table has the components of both.
func (t *Table) layered(o settings, config map[string]any) (*Table, error) {
	value, wrong := valueAt(config, o.layer)
	layer, isMap := value.(map[string]any)
	switch {
	case wrong != "":
		return t, request.Configuration("configuration: %s: it isn't a map", wrong)
	case value == nil:
		return t, nil
	case !isMap:
		return t, request.Configuration("configuration: %s: it has to be a map of sizes", o.layer)
	}
	content, differs := merged(t.content, inFull(layer))
	if !differs {
		return t, nil
	}
	changed, err := read(content)
	if err != nil {
		changed.components = slices.Compact(slices.Sorted(slices.Values(append(changed.components, t.components...))))
		return changed, request.Configuration("configuration: %s: %w", o.layer, err)
	}
	return changed, nil
}

// merged returns base with a layer over it, map by map, and whether that differs from base. It changes neither.
func merged(base, layer map[string]any) (out map[string]any, differs bool) {
	out = maps.Clone(base)
	for key, value := range layer {
		below, isMap := base[key].(map[string]any)
		above, both := value.(map[string]any)
		if isMap && both {
			inner, innerDiffers := merged(below, above)
			out[key], differs = inner, differs || innerDiffers
			continue
		}
		out[key] = value
		differs = differs || !reflect.DeepEqual(plain(value), base[key])
	}
	return out, differs
}
