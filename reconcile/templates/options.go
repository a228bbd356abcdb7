package templates

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"text/template"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/document"
	"github.com/operkit/operkit/reconcile/internal/optional"
	"github.com/operkit/operkit/reconcile/internal/plain"
	"github.com/operkit/operkit/reconcile/internal/render"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/runtime"
	apijson "k8s.io/apimachinery/pkg/util/json"
)

// Option is an option of Parse and Component. The last one of a kind wins, unless its comment says that several add up;
// nil is ignored.
type Option func(*options)

type options struct {
	values      []func(context.Context, *reconcile.Session) (any, error)
	funcs       template.FuncMap
	left, right string
	errs        []error
}

// Values adds the author's own values, .Values: a map, or a struct that is converted as JSON. Values of Component
// replace Values of Parse, and later Values replace earlier Values; maps are merged. The values are copied.
func Values(values any) Option {
	content, err := mapOf(values)
	return func(o *options) {
		if err != nil {
			o.errs = append(o.errs, fmt.Errorf("values: %w", err))
			return
		}
		o.values = append(o.values, func(context.Context, *reconcile.Session) (any, error) { return content, nil })
	}
}

// ValuesFrom adds values like Values, from a function that is called when the component is about to be deployed, so
// that the function can read the components that this one waits for. The function must return the same values for the
// same resource. Its error fails the component.
func ValuesFrom(values func(ctx context.Context, s *reconcile.Session) (any, error)) Option {
	return func(o *options) {
		if values == nil {
			o.errs = append(o.errs, errors.New("values: the function is nil"))
			return
		}
		o.values = append(o.values, values)
	}
}

// Funcs adds the author's own functions; an option of Parse. They must be pure and safe for concurrent use. If a
// function of that name exists already, that is an error.
func Funcs(funcs template.FuncMap) Option {
	return func(o *options) {
		if o.funcs == nil {
			o.funcs = template.FuncMap{}
		}
		maps.Copy(o.funcs, funcs)
	}
}

// Delims sets the delimiters of actions; an option of Parse. Default: "{{" and "}}". Use it for YAML that contains the
// default delimiters.
func Delims(left, right string) Option {
	return func(o *options) {
		if left == "" || right == "" {
			o.errs = append(o.errs, fmt.Errorf("delims: %q and %q: a delimiter is empty", left, right))
			return
		}
		o.left, o.right = left, right
	}
}

const defaultLeft, defaultRight = "{{", "}}"

func newOptions(opts []Option) (options, error) {
	o := options{left: defaultLeft, right: defaultRight}
	optional.Apply(&o, opts)
	for name := range o.funcs {
		if isTaken(name) {
			o.errs = append(o.errs, fmt.Errorf("function %s: there is a function of this name already: choose another name", name))
		}
	}
	if err := usable(o.funcs); err != nil {
		o.errs = append(o.errs, err)
	}
	return o, errors.Join(o.errs...)
}

// usable returns an error for functions with which package template would panic.
func usable(funcs template.FuncMap) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("functions: %v", value)
		}
	}()
	template.New("").Funcs(funcs)
	return nil
}

// Data has the values for rendering without a session, see Render. A nil map is empty.
type Data struct {
	// Name, Namespace, APIVersion, Kind, Metadata and Spec are fields of the resource. Version is the version that the
	// resource wants, and Config is its configuration. Values are the author's own values, see the option Values.
	Name, Namespace, APIVersion, Kind, Version string
	Metadata, Spec, Config, Values             map[string]any
	// ScopedName is the function scopedName; default: Name, a dash and the argument, as in Session.ScopedName.
	ScopedName func(name string) string
}

// dataOf returns the data of a session.
func dataOf(s *reconcile.Session) (Data, error) {
	resource := s.Resource()
	metadata, _ := resource.Object["metadata"].(map[string]any)
	delete(metadata, "resourceVersion")
	delete(metadata, "managedFields")
	spec, isMap := resource.Object["spec"].(map[string]any)
	if given := resource.Object["spec"]; given != nil && !isMap {
		return Data{}, request.Configuration("spec is %s: a map is needed", document.KindOf(given))
	}
	return Data{
		Name: s.Name(), Namespace: s.Namespace(), APIVersion: resource.GetAPIVersion(), Kind: resource.GetKind(), Version: s.Version(),
		Metadata: metadata, Spec: spec, Config: s.Config(), ScopedName: s.ScopedName,
	}, nil
}

// root returns the value of the dot in every template. It shares nothing with d.
func (d Data) root() (map[string]any, error) {
	root := map[string]any{"Name": d.Name, "Namespace": d.Namespace, "APIVersion": d.APIVersion, "Kind": d.Kind, "Version": d.Version}
	for name, content := range map[string]map[string]any{"Metadata": d.Metadata, "Spec": d.Spec, "Config": d.Config, "Values": d.Values} {
		plain, err := mapOf(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		root[name] = plain
	}
	return root, nil
}

// valuesOf merges the author's values.
func valuesOf(ctx context.Context, s *reconcile.Session, layers ...options) (map[string]any, error) {
	var all []map[string]any
	for _, o := range layers {
		for _, values := range o.values {
			given, err := values(ctx, s)
			if err != nil {
				return nil, fmt.Errorf("values: %w", err)
			}
			content, err := mapOf(given)
			if err != nil {
				return nil, fmt.Errorf("values: %w", err)
			}
			all = append(all, content)
		}
	}
	return render.Layered(all...), nil
}

// mapOf returns a value in the form of JSON: maps, lists, text, booleans, int64 and float64. nil is an empty map.
func mapOf(value any) (map[string]any, error) {
	if given := reflect.ValueOf(value); value == nil || (given.Kind() == reflect.Pointer || given.Kind() == reflect.Map) && given.IsNil() {
		return map[string]any{}, nil
	}
	if content, ok := value.(map[string]any); ok && plain.Is(content) {
		return runtime.DeepCopyJSON(content), nil
	}
	document, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("a value of type %T can't be converted: %w", value, err)
	}
	var content map[string]any
	if err := apijson.Unmarshal(document, &content); err != nil || content == nil {
		return nil, errors.Join(fmt.Errorf("a value of type %T isn't a map: pass a map or a struct", value), err)
	}
	return content, nil
}
