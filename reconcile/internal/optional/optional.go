package optional

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Apply applies options to a value in order. A nil option is ignored.
func Apply[T any, Option ~func(*T)](to *T, options []Option) {
	for _, option := range options {
		if option != nil {
			option(to)
		}
	}
}

// Check returns an error if value has a method with the name of an interface's method but another signature, or if only
// a pointer to value has the method. Errors are sorted by text. A nil value is valid.
func Check(value any, interfaces ...reflect.Type) error {
	t := reflect.TypeOf(value)
	if t == nil {
		return nil
	}
	var errs []error
	for _, wanted := range interfaces {
		for i := range wanted.NumMethod() {
			name, want := wanted.Method(i).Name, wanted.Method(i).Type
			if method := reflect.ValueOf(value).MethodByName(name); method.IsValid() {
				if method.Type() != want {
					errs = append(errs, fmt.Errorf("%s: its method %s is %s: make it %s", t, name, signature(method.Type()), signature(want)))
				}
			} else if _, ok := reflect.PointerTo(t).MethodByName(name); ok {
				errs = append(errs, fmt.Errorf("%s: its method %s has a pointer receiver: pass a *%s", t, name, t))
			}
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

func signature(t reflect.Type) string { return strings.TrimPrefix(t.String(), "func") }
