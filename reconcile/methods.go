package reconcile

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/source"
)

// The interfaces whose methods are found by their names.
var (
	controllerMethods = []reflect.Type{
		reflect.TypeFor[Finalizer](), reflect.TypeFor[AfterDeployer](), reflect.TypeFor[UnsuccessfulDeployer](),
		reflect.TypeFor[AfterVerifier](), reflect.TypeFor[UnsuccessfulVerifier](), reflect.TypeFor[Requeuer](),
		reflect.TypeFor[Defaulter](), reflect.TypeFor[ConfigDefaulter](),
		reflect.TypeFor[Exhauster](), reflect.TypeFor[source.Provider](),
	}
	builderMethods = []reflect.Type{
		reflect.TypeFor[Deployer](), reflect.TypeFor[Verifier](), reflect.TypeFor[Disabler](), reflect.TypeFor[Reviser](),
	}
)

// checkMethods refuses a value with a method that would be taken for one of the interfaces' and isn't: one
// of another signature, and one that only a pointer to the value has.
func checkMethods(value any, interfaces []reflect.Type) error {
	var errs []error
	t := reflect.TypeOf(value)
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
