package leader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
)

// Reconciler brings one object to its wanted state, as a watch.Reconciler does.
type Reconciler interface {
	Reconcile(ctx context.Context, req request.Request) (request.Result, error)
}

// ObjectLock is a Reconciler that works on an object only while no other replica does. It is safe for concurrent use,
// for one request of an object at a time, as an engine calls it.
type ObjectLock struct {
	next     Reconciler
	sources  source.Sources
	options  options
	identity string
	objects  *objects
}

// PerObject returns a Reconciler that calls next for an object only while this replica holds the lock on the object.
// The lock consists of two annotations of the object, lease-name and lease-time of the manager's domain. So several
// replicas work at once, each object is worked on by one of them at a time, and no single lock is needed.
//
// A free lock is taken by a write that fails if the object has changed since it was read. If another replica holds the
// lock, Reconcile returns without an error, and the lock is checked again after a retry period, until the other replica
// has released the lock or hasn't renewed it for the duration. While next runs, the lock is renewed every retry period.
// If that doesn't succeed before the renew deadline, or another replica holds the lock, the context of next is
// cancelled with the cause ErrLost and its Term.Lost is closed; Reconcile returns an error, and next is called again
// later. next is never called for an object that can't be read; for an object that is gone, next is called without a
// lock. When next has returned or panicked, the lock is released. If the object is deleted or replaced while next runs,
// the lock is lost.
//
// All replicas must have the same Timing and domain. next must use the cluster of manager, whose View shows the writes
// of the lock. Each replica measures on its own clock for how long it has seen a lock unchanged. The time in the
// annotation, in UTC, is for people, and with the domain oper8.org also for replicas of an operator written with oper8.
// ObjectTransport keeps back requests that next sends after the renew deadline, for example because its process was
// frozen.
//
// It is an error if next is Undivided and needs a leader.
//
// With a manager that has the option DryRun no lock is taken: every reconcile is cancelled with ErrLost.
func PerObject(next Reconciler, manager *deploy.Manager, opts ...Option) (*ObjectLock, error) {
	l, err := newObjectLock(next, manager, opts)
	if err != nil {
		return nil, fmt.Errorf("lock per object: %w", err)
	}
	return l, nil
}

func newObjectLock(next Reconciler, manager *deploy.Manager, opts []Option) (*ObjectLock, error) {
	o, err := newOptions(opts)
	switch {
	case err != nil:
		return nil, err
	case next == nil:
		return nil, errors.New("nil reconciler")
	case manager == nil:
		return nil, errors.New("nil manager")
	}
	if err := checkDivisible(next); err != nil {
		return nil, err
	}
	replica, err := o.replica()
	if err != nil {
		return nil, err
	}
	sources, err := source.Of(next)
	if err != nil {
		return nil, err
	}
	identity := unique(replica)
	objects, err := newObjects(manager, o, identity)
	if err != nil {
		return nil, err
	}
	return &ObjectLock{next: next, sources: sources, options: o, identity: identity, objects: objects}, nil
}

// Identity returns the name of this replica in the annotation.
func (l *ObjectLock) Identity() string { return l.identity }

// Sources implements source.Provider, with the Sources of the Reconciler that is called.
func (l *ObjectLock) Sources() source.Sources { return l.sources }

// Observe implements watch.Observer, if the Reconciler implements it.
func (l *ObjectLock) Observe(event deploy.Event) {
	if observer, ok := l.next.(interface{ Observe(event deploy.Event) }); ok {
		observer.Observe(event)
	}
}

// Forget implements watch.Forgetter, if the Reconciler implements it.
func (l *ObjectLock) Forget(key deploy.Ref) {
	l.objects.forget(key)
	l.forgetNext(key)
}

func (l *ObjectLock) forgetNext(key deploy.Ref) {
	if forgetter, ok := l.next.(interface{ Forget(key deploy.Ref) }); ok {
		forgetter.Forget(key)
	}
}

// Reconcile implements Reconciler.
func (l *ObjectLock) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	sent := time.Now()
	// An attempt that is cut off might have taken the lock unnoticed.
	got, err := attempt(context.WithoutCancel(ctx), l.options, func(ctx context.Context) (claim, error) {
		return l.objects.take(ctx, req.Key)
	})
	deadline := sent.Add(l.options.deadline)
	switch {
	case err != nil:
		err = fmt.Errorf("lock of %s: %w", req.Key, err)
		if failure.Is[*dag.PanicError](err) {
			withStack(logging.Scoped(ctx, l.options.logger), err).ErrorContext(ctx, "taking the lock panicked", "object", req.Key, "error", err)
		}
		return request.Result{}, err
	case got.gone:
		return l.next.Reconcile(ctx, req)
	case got.held && ctx.Err() != nil:
		l.release(ctx, req.Key, deadline)
		return request.Result{}, context.Cause(ctx)
	case !got.held:
		// The other replica now reports the state of the object, so next must forget what it remembers.
		l.forgetNext(req.Key)
		logging.Scoped(ctx, l.options.logger).DebugContext(ctx, "another replica works on the object", "object", req.Key, "holder", got.holder, "again_in", got.wait)
		return request.Result{RequeueAfter: got.wait}, nil
	}
	return l.work(newTerm(ctx, deadline, Term{Holder: l.identity}), req)
}

type objectTermKey struct{}

// work calls next while the lock is renewed.
func (l *ObjectLock) work(t *term, req request.Request) (result request.Result, err error) {
	keep := func(ctx context.Context) error { return l.objects.keep(ctx, req.Key) }
	err = l.options.hold(t, keep, func(context.Context, error) {}, func(ctx context.Context) (err error) {
		result, err = l.next.Reconcile(context.WithValue(ctx, objectTermKey{}, t), req)
		return err
	}, func(lost error, deadline time.Time, err error) error {
		if lost == nil {
			l.release(t.work, req.Key, deadline)
			return err
		}
		result = request.Result{}
		return lostError("lock of "+req.Key.String(), lost, err)
	})
	return result, err
}

// release frees the lock before it runs out, so that the next holder needn't wait.
func (l *ObjectLock) release(ctx context.Context, key deploy.Ref, deadline time.Time) {
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	if err := l.options.try(ctx, func(ctx context.Context) error { return l.objects.release(ctx, key) }); err != nil {
		withStack(logging.Scoped(ctx, l.options.logger), err).WarnContext(ctx, "the lock wasn't released: other replicas wait until it expires", "object", key, "error", err)
	}
}

// ObjectTransport refuses requests of a reconcile under PerObject whose lock has run out, and cancels requests of that
// reconcile that are under way then; they fail with ErrNotLeading. The context of a request shows whether it belongs to
// such a reconcile; other requests pass. As with Elector.Transport, a request is checked against a clock when it is
// sent. Use it in a configuration of client-go: config.Wrap(leader.ObjectTransport).
func ObjectTransport(next http.RoundTripper) http.RoundTripper {
	return &guard{next: cmp.Or(next, http.DefaultTransport), term: func(req *http.Request) (*term, bool) {
		t, found := req.Context().Value(objectTermKey{}).(*term)
		return t, found
	}}
}
