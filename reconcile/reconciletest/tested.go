package reconciletest

import (
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// tested is a kind of the test, with its controller: one of sessions, or one of another style (driven).
type tested struct {
	kind     schema.GroupVersionKind
	sessions reconcile.Controller
	driven   watch.Controller
}

func (t tested) String() string {
	if t.sessions == nil {
		return "reconciler of " + t.kind.Kind
	}
	return fmt.Sprintf("controller %T", t.sessions)
}

// checkTested checks the kinds of the test, and the options that need a controller of sessions.
func (h *Harness) checkTested() error {
	anySessions := false
	for i := range h.tested {
		t := &h.tested[i]
		switch {
		case t.sessions != nil:
			t.kind, anySessions = t.sessions.Kind(), true
		case t.driven == nil:
			return errors.New("nil controller")
		default:
			t.kind = t.driven.Kind()
		}
		if t.kind.Kind == "" || t.kind.Version == "" {
			return fmt.Errorf("kind %q: needs a version and a kind", t.kind)
		}
	}
	if len(h.options.reconciler) > 0 && !anySessions {
		return errors.New("option With: it is for controllers of sessions, and the test has none: leave it out")
	}
	return nil
}

// renew makes the first controller anew, if the test says how.
func (h *Harness) renew() error {
	if h.options.renew == nil {
		return nil
	}
	before, next := h.tested[0], h.options.renew()
	switch {
	case (before.sessions == nil) != (next.sessions == nil) || next.sessions == nil && next.driven == nil:
		return fmt.Errorf("option Renew: it returned another type of controller than %s", before)
	case next.sessions != nil:
		next.kind = next.sessions.Kind()
	default:
		next.kind = next.driven.Kind()
	}
	if next.kind != before.kind {
		return fmt.Errorf("option Renew: it returned a controller of %s, and the test's is of %s", next.kind, before.kind)
	}
	h.tested[0] = next
	return nil
}

// driven is a reconciler that the harness runs, with its sources (rules) and its optional methods (hooks).
type driven struct {
	watch.Reconciler
	kind  schema.GroupVersionKind
	rules *trigger.Rules
	hooks *trigger.Hooks
	// starters are the external sources that haven't started yet. open: the kind is watched, or about to be. Before
	// that, events of mapped kinds are ignored, and keys of external sources wait.
	starters []source.Starter
	open     bool
	// external: its external sources run.
	external bool
}

// makeReconcilers makes the reconcilers of all kinds.
func (h *Harness) makeReconcilers() error {
	s, err := h.newSessions()
	if err != nil {
		return err
	}
	for _, t := range h.tested {
		var made watch.Reconciler
		if t.sessions != nil {
			made, err = s.reconciler(t.sessions)
		} else if made, err = t.driven.Reconciler(h.t.Context(), h.env(s.patches)); err != nil {
			err = fmt.Errorf("%s: %w", t, err)
		}
		if err == nil {
			err = h.drive(t.kind, made, t.String())
		}
		if err != nil {
			return err
		}
	}
	return s.drivePatches()
}

func (h *Harness) env(patches *patchService) watch.Env {
	h.t.Helper()
	return watch.Env{
		Manager: h.newManager(), Watcher: h.events, Logger: h.logger(), Events: h.options.sink, Now: h.clock.now, Patches: patches.patcher,
	}
}

// newManager returns a new Manager, which has no cached state.
func (h *Harness) newManager() *deploy.Manager {
	h.t.Helper()
	manager, err := deploy.NewManager(observed{h.cluster, h}, h.options.manager...)
	if err != nil {
		h.t.Fatalf("reconciletest: %v", err)
	}
	return manager
}

// drive adds a reconciler.
func (h *Harness) drive(kind schema.GroupVersionKind, r watch.Reconciler, name string) error {
	if r == nil {
		return fmt.Errorf("%s: its method Reconciler returned nil", name)
	}
	if h.controlling(kind) != nil {
		return fmt.Errorf("%s: %s has a controller already", name, kind.Kind)
	}
	sources, err := source.Of(r)
	var hooks *trigger.Hooks
	if err == nil {
		hooks, err = trigger.NewHooks(kind, r, h.logger())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	rules := trigger.NewRules(kind, sources, h.newManager().KeyDomain(), h.logger())
	h.driven[kind] = &driven{Reconciler: r, kind: kind, rules: rules, hooks: hooks, starters: rules.Starters()}
	return nil
}

// controlling returns the reconciler of any version of kind, nil if there is none.
func (h *Harness) controlling(kind schema.GroupVersionKind) *driven {
	for _, d := range h.driven {
		if d.kind.GroupKind() == kind.GroupKind() {
			return d
		}
	}
	return nil
}
