package templates

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"text/template"

	"github.com/operkit/operkit/reconcile"
)

// Option sets what is rarely set.
type Option func(*options)

type options struct {
	values      []func(context.Context, *reconcile.Session) (any, error)
	funcs       template.FuncMap
	left, right string
	errs        []error
}

// Values are values of the author's own, for .Values: a map, or a struct as JSON would have it. Those given to
// Component lie over those given to Parse, and later ones over earlier ones; maps are merged. They aren't changed,
// and needn't stay as they are.
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

// ValuesFrom has values made when the component's turn has come, see Values: with what it waits for there
// to be read. The function has to give the same for the same resource. Its error is the component's.
func ValuesFrom(values func(ctx context.Context, s *reconcile.Session) (any, error)) Option {
	return func(o *options) {
		if values == nil {
			o.errs = append(o.errs, errors.New("values: the function is nil"))
			return
		}
		o.values = append(o.values, values)
	}
}

// Funcs are functions of the author's own, for Parse. They have to be pure, and safe for several goroutines; one
// that has the name of another function is an error.
func Funcs(funcs template.FuncMap) Option {
	return func(o *options) {
		if o.funcs == nil {
			o.funcs = template.FuncMap{}
		}
		maps.Copy(o.funcs, funcs)
	}
}

// Delims sets what surrounds actions, for Parse; default "{{" and "}}". It is for YAML that has these itself.
func Delims(left, right string) Option {
	return func(o *options) {
		if left == "" || right == "" {
			o.errs = append(o.errs, fmt.Errorf("delims: %q and %q: neither may be empty", left, right))
			return
		}
		o.left, o.right = left, right
	}
}

const defaultLeft, defaultRight = "{{", "}}"

func newOptions(opts []Option) (options, error) {
	o := options{left: defaultLeft, right: defaultRight}
	for _, option := range opts {
		option(&o)
	}
	for name := range o.funcs {
		if isTaken(name) {
			o.errs = append(o.errs, fmt.Errorf("function %s: there is one of this name already: choose another name", name))
		}
	}
	if err := usable(o.funcs); err != nil {
		o.errs = append(o.errs, err)
	}
	return o, errors.Join(o.errs...)
}

// usable says as an error what package template has against functions.
func usable(funcs template.FuncMap) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("functions: %v", value)
		}
	}()
	template.New("").Funcs(funcs)
	return nil
}
