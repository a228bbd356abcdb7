package leader

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Reconciler brings one object to its wanted state, as the one of package watch does.
type Reconciler interface {
	Reconcile(ctx context.Context, req request.Request) (request.Result, error)
}

// ObjectLock is a Reconciler that works on an object only while no other replica does. It is safe for concurrent use, for
// one request of an object at a time, as an engine has it.
type ObjectLock struct {
	next     Reconciler
	sources  source.Sources
	options  options
	identity string
	objects  objects
}

// PerObject returns a Reconciler that calls next for an object only while it holds the lock on that: two annotations of
// the object, lease-name and lease-time of the Domain. So several replicas work at once, each object is worked on by
// one of them at a time, and no lock is needed that only one can have (spec: watch 35, mistake 8).
//
// A lock that is free is taken by a write that fails when the object has changed since it was read. One that another
// replica holds is looked at again after a retry period, without an error, until that has released it or has not renewed
// it for Duration. While next works the lock is renewed with each retry period. When that doesn't succeed until the renew
// deadline, or another replica is seen in the lock, the context of next is cancelled with the cause ErrLost, and its
// Term.Lost closed; the error says so and next is called again later. What can't be read is never worked on, and what is
// gone needs no lock. When next has returned, also by a panic, the lock is released. An object that is gone while next
// works, or is another one of its name by then, counts as lost.
//
// All replicas must have the same Duration, RenewDeadline and Domain, and next the same cluster, whose View shows what is
// written here. How long a lock stands still is measured on the own clock from when it was first seen as it is; the
// time in the annotation, in UTC, is for people, and with the domain oper8.org for replicas of an operator written with
// oper8. What next sends past the renew deadline, because its process was frozen, is kept back by ObjectTransport.
func PerObject(next Reconciler, cluster deploy.Cluster, opts ...Option) (*ObjectLock, error) {
	const what = "lock per object"
	o, err := newOptions(opts)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", what, err)
	case next == nil:
		return nil, fmt.Errorf("%s: the reconciler is nil", what)
	case cluster == nil:
		return nil, fmt.Errorf("%s: the cluster is nil", what)
	}
	if problems := validation.IsDNS1123Subdomain(o.domain); len(problems) > 0 {
		return nil, fmt.Errorf("%s: domain %q: %s", what, o.domain, problems[0])
	}
	replica, err := o.replica()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	sources, err := source.Of(next)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	identity := unique(replica)
	return &ObjectLock{next: next, sources: sources, options: o, identity: identity, objects: newObjects(cluster, o, identity)}, nil
}

// Identity is the name of this replica in the annotation.
func (l *ObjectLock) Identity() string { return l.identity }

// Reconcile implements Reconciler.
func (l *ObjectLock) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	var got claim
	sent := time.Now()
	// One that is cut off might have taken the lock without anybody's knowing.
	err := l.options.try(context.WithoutCancel(ctx), func(ctx context.Context) (err error) {
		got, err = l.objects.take(ctx, req.Key)
		return err
	})
	deadline := sent.Add(l.options.deadline)
	switch {
	case err != nil:
		return request.Result{}, fmt.Errorf("lock of %s: %w", req.Key, err)
	case got.gone:
		return l.next.Reconcile(ctx, req)
	case got.held && ctx.Err() != nil:
		l.release(ctx, req.Key, deadline)
		return request.Result{}, context.Cause(ctx)
	case !got.held:
		// What next knows of it is that replica's to say now.
		l.forgetNext(req.Key)
		logging.Scoped(ctx, l.options.logger).DebugContext(ctx, "another replica works on it", "object", req.Key, "holder", got.holder, "again_in", got.wait)
		return request.Result{RequeueAfter: got.wait}, nil
	}
	return l.work(ctx, newTerm(ctx, deadline, l.identity, 0), req)
}

type objectTermKey struct{}

// work calls next while the lock is renewed.
func (l *ObjectLock) work(ctx context.Context, t *term, req request.Request) (result request.Result, err error) {
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		l.renew(renewing, t, req.Key)
	}()
	defer func() {
		stop()
		<-renewed
		lost, deadline := t.end()
		if lost == nil {
			l.release(ctx, req.Key, deadline)
			return
		}
		result, err = request.Result{}, lostError("lock of "+req.Key.String(), lost, err)
	}()
	return l.next.Reconcile(context.WithValue(t.work, objectTermKey{}, t), req)
}

// renew keeps the lock until ctx or the term ends.
func (l *ObjectLock) renew(ctx context.Context, t *term, key deploy.Ref) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.calls, cancel)()
	for pause(ctx, l.options.retry) {
		sent := time.Now()
		err := l.options.try(ctx, func(ctx context.Context) error { return l.objects.keep(ctx, key) })
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, ErrLost):
			t.lose(err)
		case err != nil:
			t.fail(err)
		default:
			t.extend(sent.Add(l.options.deadline))
		}
	}
}

// release ends the hold before it runs out. Whoever follows needn't wait then.
func (l *ObjectLock) release(ctx context.Context, key deploy.Ref, deadline time.Time) {
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	if err := l.options.try(ctx, func(ctx context.Context) error { return l.objects.release(ctx, key) }); err != nil {
		logging.Scoped(ctx, l.options.logger).WarnContext(ctx, "the lock wasn't released: others wait for it to run out", "object", key, "error", err)
	}
}

// ObjectTransport keeps back requests of a reconcile under PerObject whose lock has run out, and cancels those that are
// under way then; they fail with ErrNotLeading. A request belongs to a reconcile by its context, others pass. As with
// Elector.Transport that is asked of a clock when the request is sent: config.Wrap(leader.ObjectTransport).
func ObjectTransport(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return &guard{next: next, term: func(req *http.Request) (*term, bool) {
		t, found := req.Context().Value(objectTermKey{}).(*term)
		return t, found
	}}
}
