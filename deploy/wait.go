package deploy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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
