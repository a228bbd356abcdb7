package size

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile"
)

// Option is an option of Components and Table.Of. Options are applied in order, the last one of a kind wins; nil is
// ignored.
type Option func(*settings)

type settings struct {
	layer, field, overrides string
	fallback                string
	scaled                  []func(s *reconcile.Session, component string) bool
}

// Layer sets where Session.Config may change the table, as a path such as "web.sizes"; default "sizes". Table.Of
// ignores it.
func Layer(path string) Option { return func(o *settings) { o.layer = path } }

// Field sets the field of the resource that names its size, as a path; default "spec.size".
func Field(path string) Option { return func(o *settings) { o.field = path } }

// Default sets the size of resources that name none. Without it, they are an error.
func Default(size string) Option { return func(o *settings) { o.fallback = size } }

// Overrides sets the field of the resource that has values of its own, by component, as a path; default
// "spec.overrides".
func Overrides(path string) Option { return func(o *settings) { o.overrides = path } }

// Scaled declares which components have a scaler that isn't an object of the component itself, such as an autoscaler
// that people add. If the option is given several times, a component has one if one of the functions returns true. The
// functions are called concurrently. Table.Of ignores the option.
func Scaled(scaled func(s *reconcile.Session, component string) bool) Option {
	return func(o *settings) {
		if scaled != nil {
			o.scaled = append(o.scaled, scaled)
		}
	}
}

func newSettings(options []Option) settings {
	o := settings{layer: "sizes", field: "spec.size", overrides: "spec.overrides"}
	for _, option := range options {
		if option != nil {
			option(&o)
		}
	}
	return o
}

func (o settings) validate(t *Table) error {
	if t == nil || len(t.sizes) == 0 {
		return errors.New("sizes: no table: make one by size.Read")
	}
	var errs []error
	for _, path := range []struct{ option, value string }{{"Layer", o.layer}, {"Field", o.field}, {"Overrides", o.overrides}} {
		if slices.Contains(strings.Split(path.value, "."), "") {
			errs = append(errs, fmt.Errorf("sizes: option %s: %q isn't a path: use fields with dots between them, such as spec.size", path.option, path.value))
		}
	}
	if err := t.lacks(o.fallback); o.fallback != "" && err != nil {
		errs = append(errs, fmt.Errorf("sizes: option Default: %w", err))
	}
	return errors.Join(errs...)
}

// valueAt returns the value at a path, nil if there is none. at is the path of a value on the way that isn't a map,
// otherwise empty.
func valueAt(content map[string]any, path string) (value any, at string) {
	fields := strings.Split(path, ".")
	value = content
	for i, field := range fields {
		inner, isMap := value.(map[string]any)
		if !isMap {
			if value == nil {
				return nil, ""
			}
			return nil, strings.Join(fields[:i], ".")
		}
		value = inner[field]
	}
	return value, ""
}
