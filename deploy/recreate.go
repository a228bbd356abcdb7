package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// refused are the immutable fields for which the cluster has refused a change, if the object is to be made
// anew then. What admission made of a field isn't a change: the cluster is asked first, since only it knows.
func (t *task) refused(err error, wanted, live *unstructured.Unstructured) []string {
	var invalid *InvalidError
	if !t.in.strategy.recreates() || !errors.As(err, &invalid) || len(invalid.Causes) == 0 {
		return nil
	}
	fields := changedFields(ImmutableFields(live), wanted, live)
	for _, cause := range invalid.Causes {
		if !slices.ContainsFunc(fields, func(field string) bool { return isAbout(cause.Field, field[1:]) }) {
			return nil // the new object would be refused too, and the old one be gone
		}
	}
	return fields
}

// isAbout tells whether a refused field is an immutable one, something in it, or what it is in: of some
// kinds a server names no more than "spec".
func isAbout(refused, immutable string) bool {
	inside := func(inner, outer string) bool {
		rest, ok := strings.CutPrefix(inner, outer)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	}
	return refused != "" && (inside(refused, immutable) || inside(immutable, refused) ||
		inside(refused, immutable+"s")) // a Service's clusterIP is refused as one of its clusterIPs
}

// recreate deletes an object of which immutable fields changed, waits until it is gone, and makes it
// anew. What isn't waited for to the end is told, and made by the next Apply.
func (t *task) recreate(ctx context.Context, live *unstructured.Unstructured, fields []string) Result {
	ref := t.in.ref
	if t.in.strategy != RecreateProtected && protected(ref.Kind.GroupKind()) {
		return Result{Ref: ref, Action: Failed, Object: live, Err: &InvalidError{Ref: ref, Err: fmt.Errorf(
			"%s can't be changed, and to delete it would take along what it holds: use the strategy %s if that is meant",
			strings.Join(fields, ", "), RecreateProtected)}}
	}
	options := DeleteOptions{UID: live.GetUID(), Propagation: t.propagation, DryRun: t.dryRun}
	if err := t.port.Delete(ctx, ref, options); err != nil && !isNotFound(err) {
		return Result{Ref: ref, Action: Failed, Object: live, Err: err}
	}
	if t.dryRun {
		return Result{Ref: ref, Action: Recreated, Object: t.in.object}
	}
	if err := t.awaitDeletion(ctx, ref, live); err != nil {
		return Result{Ref: ref, Action: Removed, Err: err}
	}
	result := t.create(ctx)
	switch {
	case result.Action == Created:
		result.Action = Recreated
	case result.Err != nil:
		result.Err = fmt.Errorf("it was deleted to be made anew, and isn't yet: %w", result.Err)
	}
	return result
}

func (t *task) awaitDeletion(ctx context.Context, ref Ref, live *unstructured.Unstructured) error {
	if t.recreateWait > 0 {
		bounded, cancel := context.WithTimeout(ctx, t.recreateWait)
		defer cancel()
		ctx = bounded
	}
	return t.waitGone(ctx, ref, live)
}

// Pauses between two looks at the View.
const (
	firstLook   = 20 * time.Millisecond
	longestLook = time.Second
)

// DefaultWait bounds what is waited for when ctx has no deadline.
const DefaultWait = 2 * time.Minute

// waiting bounds ctx by DefaultWait if it has no deadline.
func waiting(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, limited := ctx.Deadline(); limited {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, DefaultWait)
}

// waitUntil looks until done answers true or an error other than *UnavailableError, or ctx ends: then that
// is the error.
func waitUntil(ctx context.Context, done func(ctx context.Context) (bool, error)) error {
	ctx, cancel := waiting(ctx)
	defer cancel()
	for pause := firstLook; ; pause = min(2*pause, longestLook) {
		finished, err := done(ctx)
		var unavailable *UnavailableError
		if finished || err != nil && ctx.Err() == nil && !errors.As(err, &unavailable) {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// outOfTime tells whether it was for a deadline that waitUntil ended with err, rather than that ctx was cancelled.
func outOfTime(ctx context.Context, err error) bool { return isDeadline(err) || isDeadline(ctx.Err()) }

// waitGone waits until live, or what has its name, isn't that object any more.
func (m *Manager) waitGone(ctx context.Context, ref Ref, live *unstructured.Unstructured) error {
	holders := live.GetFinalizers()
	err := waitUntil(ctx, func(ctx context.Context) (bool, error) {
		seen, err := m.glance(ctx, 0, ref)
		current := seen.object
		if err != nil {
			return false, err
		}
		if current == nil || current.GetUID() != live.GetUID() {
			return true, nil
		}
		holders = current.GetFinalizers()
		return false, nil
	})
	if err == nil || ctx.Err() == nil && !isDeadline(err) {
		return err
	}
	reason := "it is being deleted"
	if len(holders) > 0 {
		reason += " and waits for the finalizers " + strings.Join(holders, ", ")
	}
	if !outOfTime(ctx, err) {
		return fmt.Errorf("%s: %s; it was not waited for to the end: %w", ref, reason, err)
	}
	return &TimeoutError{Ref: ref, Reason: reason, Err: err}
}
