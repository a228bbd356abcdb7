package watch

import (
	"log/slog"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/status/readiness"
)

// Env is what a program gives to a Controller to make its Reconciler: an operator when it starts, the harness of
// reconciletest in a test. All fields are set, except Events and Readiness.
type Env struct {
	// Manager applies objects, and reads them by its View. Its KeyDomain is the domain of annotations and finalizers.
	Manager *deploy.Manager
	// Watcher watches further kinds while the Reconciler runs.
	Watcher source.Watcher
	// Logger logs for the program.
	Logger *slog.Logger
	// Events takes events about objects. It is nil if they are off.
	Events event.Sink
	// Now returns the time.
	Now func() time.Time
	// Patches returns the Patcher of temporary patches for the resources of the kind, nil if there are no patches. With
	// the call the program serves such patches for the kind, so call it only for a reconciler that passes all objects
	// through patching.Objects, while the reconciler is made. The filter of the reconciler has to pass changes of
	// annotations: a patch brings its target to reconcile by one.
	Patches func() patching.Patcher
	// Readiness is how objects are judged whose kind the reconciler has no rule for. The zero Checker knows the table
	// of package readiness.
	Readiness readiness.Checker
}
