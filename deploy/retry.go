package deploy

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Pauses between two tries of one request, unless the server asks for a longer pause.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 10 * time.Second
)

// DefaultRetryTime is the default of RetryFor.
const DefaultRetryTime = 30 * time.Second

// RetryFor limits how long a request that fails with an *UnavailableError (429, 5xx or a broken connection) is retried.
// The pauses grow, with jitter, and are at least as long as the server asks for. The deadline of the context may end
// the retries sooner. 0 means no retries. The default is DefaultRetryTime.
func RetryFor(limit time.Duration) Option { return func(s *settings) { s.retryFor = limit } }

// requests is the Port for the work on one object: it retries, and counts calls.
type requests struct {
	Port
	retryFor time.Duration
	calls    *atomic.Int64
}

// requests returns the Port for one object, with a new count of calls.
func (m *Manager) requests(s settings) requests {
	return requests{Port: m.port, retryFor: s.retryFor, calls: new(atomic.Int64)}
}

// retry calls the function try, and repeats the call as long as it returns an *UnavailableError. It stops when ctx has
// ended, or when the time limit is over. If ctx has ended, it still returns the result of the last call, because the
// error of the call says why the work wasn't done.
func retry[T any](ctx context.Context, limit time.Duration, try func() (T, error)) (T, error) {
	answer, err := try()
	if err == nil {
		return answer, nil
	}
	end := time.Now().Add(limit)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		var unavailable *UnavailableError
		if err == nil || !errors.As(err, &unavailable) || ctx.Err() != nil {
			return answer, err
		}
		wait := max(pause-rand.N(pause/2), unavailable.RetryAfter)
		if time.Now().Add(wait).After(end) || !sleep(ctx, wait) {
			return answer, err
		}
		answer, err = try()
	}
}

// pause waits before the next attempt to write an object that others keep writing. The wait grows with attempt. pause
// returns false if ctx ends first.
func pause(ctx context.Context, attempt int) bool {
	wait := firstPause << attempt / 4
	return sleep(ctx, wait-rand.N(wait/2))
}

// sleep waits. It returns false if ctx ends first. If the deadline of ctx is too early, it returns at once.
func sleep(ctx context.Context, wait time.Duration) bool {
	if deadline, limited := ctx.Deadline(); limited && time.Until(deadline) < wait {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(wait):
		return true
	}
}

// counted sends a request, with retries, and counts each try.
func counted[T any](ctx context.Context, r requests, send func() (T, error)) (T, error) {
	return retry(ctx, r.retryFor, func() (T, error) {
		r.calls.Add(1)
		return send()
	})
}

func (r requests) Scope(ctx context.Context, kind schema.GroupVersionKind) (Scope, error) {
	return retry(ctx, r.retryFor, func() (Scope, error) { return r.Port.Scope(ctx, kind) })
}

func (r requests) Get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error) {
	return counted(ctx, r, func() (*unstructured.Unstructured, error) { return r.Port.Get(ctx, ref) })
}

// getPresent is Get for an object that was seen a moment ago: if the object is absent, the error is a *NotFoundError.
func (r requests) getPresent(ctx context.Context, ref Ref) (*unstructured.Unstructured, error) {
	obj, err := r.Get(ctx, ref)
	if err == nil && obj == nil {
		err = &NotFoundError{Ref: ref}
	}
	return obj, err
}

func (r requests) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, options ListOptions) ([]*unstructured.Unstructured, error) {
	return counted(ctx, r, func() ([]*unstructured.Unstructured, error) { return r.Port.List(ctx, kind, namespace, options) })
}

func (r requests) Kinds(ctx context.Context, name string) ([]schema.GroupVersionKind, error) {
	var rest error
	found, err := retry(ctx, r.retryFor, func() (found []schema.GroupVersionKind, err error) {
		if found, err = r.Port.Kinds(ctx, name); len(found) > 0 {
			rest, err = err, nil
		}
		return found, err
	})
	return found, errors.Join(err, rest)
}

func (r requests) Create(ctx context.Context, obj *unstructured.Unstructured, options CreateOptions) (*unstructured.Unstructured, error) {
	return counted(ctx, r, func() (*unstructured.Unstructured, error) { return r.Port.Create(ctx, obj, options) })
}

func (r requests) Update(ctx context.Context, obj *unstructured.Unstructured, options UpdateOptions) (*unstructured.Unstructured, error) {
	return counted(ctx, r, func() (*unstructured.Unstructured, error) { return r.Port.Update(ctx, obj, options) })
}

func (r requests) Apply(ctx context.Context, obj *unstructured.Unstructured, options ApplyOptions) (Applied, error) {
	return counted(ctx, r, func() (Applied, error) { return r.Port.Apply(ctx, obj, options) })
}

func (r requests) Patch(ctx context.Context, ref Ref, patch PatchRequest) (*unstructured.Unstructured, error) {
	return counted(ctx, r, func() (*unstructured.Unstructured, error) { return r.Port.Patch(ctx, ref, patch) })
}

func (r requests) Delete(ctx context.Context, ref Ref, options DeleteOptions) error {
	_, err := counted(ctx, r, func() (struct{}, error) { return struct{}{}, r.Port.Delete(ctx, ref, options) })
	return err
}

// read reads from the View, with the same retries as a request.
func (m *Manager) read(ctx context.Context, retryFor time.Duration, ref Ref) (*unstructured.Unstructured, error) {
	return retry(ctx, retryFor, func() (*unstructured.Unstructured, error) { return m.view.Get(ctx, ref) })
}

// Pauses between two reads of the View.
const (
	firstLook   = 20 * time.Millisecond
	longestLook = time.Second
)

// DefaultWait limits how long a wait takes if ctx has no deadline.
const DefaultWait = 2 * time.Minute

// waiting adds DefaultWait to ctx as a timeout if ctx has no deadline.
func waiting(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, limited := ctx.Deadline(); limited {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, DefaultWait)
}

// waitUntil calls done until done returns true or an error other than an *UnavailableError. If ctx ends first,
// waitUntil returns the cause of ctx.
func waitUntil(ctx context.Context, done func(ctx context.Context) (bool, error)) error {
	ctx, cancel := waiting(ctx)
	defer cancel()
	for pause := firstLook; ; pause = min(2*pause, longestLook) {
		finished, err := done(ctx)
		if finished || err != nil && ctx.Err() == nil && !is[*UnavailableError](err) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// outOfTime reports whether waitUntil ended with err because of a deadline, not because ctx was cancelled.
func outOfTime(ctx context.Context, err error) bool { return isDeadline(err) || isDeadline(ctx.Err()) }

// waitGone waits until live is gone: there is no object of its name, or the object has another uid.
func (m *Manager) waitGone(ctx context.Context, ref Ref, live *unstructured.Unstructured) error {
	holders := live.GetFinalizers()
	err := waitUntil(ctx, func(ctx context.Context) (bool, error) {
		seen, err := m.see(ctx, 0, ref)
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
		return fmt.Errorf("%s: %s; the wait for it was interrupted: %w", ref, reason, err)
	}
	return &TimeoutError{Ref: ref, Reason: reason, Err: err}
}
