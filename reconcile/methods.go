package reconcile

import (
	"reflect"

	"github.com/operkit/operkit/reconcile/source"
)

// The interfaces whose methods are found by their names.
var (
	controllerMethods = []reflect.Type{
		reflect.TypeFor[Finalizer](), reflect.TypeFor[AfterDeployer](), reflect.TypeFor[UnsuccessfulDeployer](),
		reflect.TypeFor[AfterVerifier](), reflect.TypeFor[UnsuccessfulVerifier](), reflect.TypeFor[Requeuer](),
		reflect.TypeFor[Defaulter](), reflect.TypeFor[ConfigDefaulter](),
		reflect.TypeFor[Exhauster](), reflect.TypeFor[Releaser](), reflect.TypeFor[Upgrader](), reflect.TypeFor[Scoper](), reflect.TypeFor[source.Provider](),
	}
	builderMethods = []reflect.Type{
		reflect.TypeFor[Deployer](), reflect.TypeFor[Verifier](), reflect.TypeFor[Disabler](), reflect.TypeFor[Reviser](),
	}
)
