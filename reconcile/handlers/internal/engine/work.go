package engine

import (
	"context"
	"log/slog"
	"maps"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/handlers/internal/diff"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/logging"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// work is an object for which handlers are called, and what they have done. Each pass is a work with a record; events
// and daemons have works of their own, without one.
type work struct {
	*Reconciler
	ref    deploy.Ref
	object *unstructured.Unstructured
	known  *object
	log    *slog.Logger
	began  time.Time
	// outcome is what handlers have done and is still to be written. conditions are those that they have reported.
	outcome    outcome
	conditions *lifecycle.Conditions
	// edited is what the last writes have changed in the essence, and sent is the digest of the essence as it was sent.
	edited edited
	sent   string
}

// newWork returns the work for an object, of which the process remembers known.
func newWork(ctx context.Context, r *Reconciler, object *unstructured.Unstructured, known *object) work {
	ref := deploy.RefOf(object)
	log := logging.Scoped(ctx, r.LoggerFor(object)).With("object", ref)
	return work{Reconciler: r, ref: ref, object: object, known: known, log: log, began: r.Now(), conditions: r.Visit(object, log)}
}

// collect adds what an attempt has set to the outcome.
func (w *work) collect(a *Attempt, succeeded bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.outcome.updates = append(w.outcome.updates, a.updates...)
	if succeeded && a.hasResult {
		w.outcome.setResult(a.Handler.ID, a.result)
	}
	a.updates, a.hasResult = nil, false
}

// report reports a condition.
func (w *work) report(report func(c *lifecycle.Conditions)) {
	report(w.conditions)
	w.outcome.reports = append(w.outcome.reports, report)
}

// withOutcome returns the present status with what handlers have done.
func (w *work) withOutcome(present map[string]any) (next map[string]any, changed bool, err error) {
	object, err := w.outcome.updated(w.withStatus(present))
	if err != nil {
		return nil, false, err
	}
	next, _ = object["status"].(map[string]any)
	next = w.outcome.withResults(next)
	if w.statusCounts {
		w.edited.status, err = w.noteEdit(w.rules.Of(w.withStatus(present)), w.rules.Of(w.withStatus(next)))
	}
	return next, len(diff.Of(present, next)) > 0, err
}

// withStatus returns the object with another status.
func (w *work) withStatus(status map[string]any) map[string]any {
	object := maps.Clone(w.object.Object)
	if object["status"] = status; status == nil {
		delete(object, "status")
	}
	return object
}

// writeAside writes the outcome beside the passes over the object: the status, then the rest. The record and the
// finalizer stay as they are.
func (w *work) writeAside(ctx context.Context) error {
	if err := w.conditions.Err(); err != nil {
		w.log.Error("conditions aren't written", "error", err)
	}
	result, err := w.Amend(ctx, w.object, w.log, w.conditions, w.withOutcome)
	if err == nil {
		err = w.noteStored(result.Object)
	}
	if err != nil {
		return err
	}
	if len(w.outcome.updates) == 0 {
		return nil
	}
	_, err = w.change(ctx, func(*unstructured.Unstructured) error { return nil })
	return err
}
