package trigger

import (
	"log/slog"
	"reflect"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/optional"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Hooks calls the methods by which a reconciler learns of single events: Observe and Forget, see package watch. Both
// are optional. The first panic is logged, and no panic goes further.
type Hooks struct {
	guard     Guard
	kind      string
	logger    *slog.Logger
	observer  observer
	forgetter forgetter
}

type observer interface{ Observe(event deploy.Event) }

type forgetter interface{ Forget(key deploy.Ref) }

type rightsProvider interface{ Rights() []deploy.Right }

// NewHooks returns the Hooks of a reconciler of kind. It is an error if one of the methods has another signature.
func NewHooks(kind schema.GroupVersionKind, reconciler any, logger *slog.Logger) (*Hooks, error) {
	if err := optional.Check(reconciler, reflect.TypeFor[observer](), reflect.TypeFor[forgetter](), reflect.TypeFor[rightsProvider]()); err != nil {
		return nil, err
	}
	h := &Hooks{kind: kind.Kind, logger: logger}
	h.observer, _ = reconciler.(observer)
	h.forgetter, _ = reconciler.(forgetter)
	return h, nil
}

// Observed passes an event of an object to Observe.
func (h *Hooks) Observed(event deploy.Event) {
	if h.observer != nil {
		h.guard.Call(h.logger, "an observer panicked", h.kind, func() { h.observer.Observe(event) })
	}
}

// Forget calls Forget for an object that is gone or has left the view.
func (h *Hooks) Forget(key deploy.Ref) {
	if h.forgetter != nil {
		h.guard.Call(h.logger, "a forgetter panicked", h.kind, func() { h.forgetter.Forget(key) })
	}
}
