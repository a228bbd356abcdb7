package optional

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Check refuses a value with a method that would be taken for one of the interfaces' and isn't: one of another
// signature, and one that only a pointer to the value has. The mistakes are in the order of their texts. Nil has none.
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
