package event

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// mostWaiting bounds the queue.
	mostWaiting = 1000
	// timeout bounds one write, lastWords all writes at the end.
	timeout, lastWords = 5 * time.Second, 3 * time.Second
	// firstPause and longestPause bound the time between two tries while the cluster doesn't answer.
	firstPause, longestPause = time.Second, 30 * time.Second
	// tidy is how often counts are written.
	tidy = time.Minute
	// quiet is the time between two logs of errors.
	quiet = time.Minute
)

// Recorder is a Sink that writes events into a cluster.
type Recorder struct {
	port                 deploy.Port
	controller, instance string
	logger               *slog.Logger
	waiting              chan arrived
	dropped              atomic.Uint64

	// Only Run uses the following fields.
	known      map[same]*series
	allowances map[about]*allowance
	complained time.Time
}

// about is the object that events are about.
type about struct {
	deploy.Ref
	uid types.UID
}

type arrived struct {
	Event
	at time.Time
}

// NewRecorder returns a Recorder that writes through port. controller is the name of the program. instance is the name
// of its process, such as the name of the Pod. The logger gets the errors of writing events; nil means slog.Default.
func NewRecorder(port deploy.Port, controller, instance string, logger *slog.Logger) *Recorder {
	return &Recorder{
		port: port, controller: cut(controller, mostWord), instance: cut(instance, mostWord), logger: cmp.Or(logger, slog.Default()),
		waiting: make(chan arrived, mostWaiting), known: map[same]*series{}, allowances: map[about]*allowance{},
	}
}

// Record implements Sink. Events about events and about objects without a name are ignored. In a namespace that is
// being deleted no event can be created: warnings about its objects are written as events about the namespace.
func (r *Recorder) Record(e Event) {
	if e.Regarding.Kind.Kind == "Event" || e.Regarding.Name == "" || e.Reason == "" {
		return
	}
	select {
	case r.waiting <- arrived{e.complete(), time.Now()}:
	default:
		r.dropped.Add(1)
	}
}

// Dropped returns how many events weren't written.
func (r *Recorder) Dropped() uint64 { return r.dropped.Load() }

// Run writes events until ctx ends, and then writes the queued events for at most three seconds. While the cluster
// doesn't answer, events wait. Call Run once.
func (r *Recorder) Run(ctx context.Context) {
	// A write that has begun is finished.
	writing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastWords, cancel) })()
	ticker := time.NewTicker(tidy)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case e := <-r.waiting:
			r.persist(ctx, writing, e)
		case now := <-ticker.C:
			r.tidy(writing, now, false)
		}
	}
	for writing.Err() == nil {
		select {
		case e := <-r.waiting:
			r.persist(ctx, writing, e)
		default:
			r.tidy(writing, time.Now(), true)
			return
		}
	}
	r.dropped.Add(uint64(len(r.waiting)))
}

// persist writes an event, with retries. After the end of ctx it tries only once.
func (r *Recorder) persist(ctx, writing context.Context, e arrived) {
	if !r.isNew(writing, e) {
		return
	}
	for pause := firstPause; !r.create(writing, e); pause = min(2*pause, longestPause) {
		select {
		case <-ctx.Done():
			r.dropped.Add(1)
			return
		case <-time.After(pause):
		}
	}
}

// isNew reports whether an event has to be written. If it is a repetition, it is counted; if it exceeds the allowance
// of its object, it is dropped.
func (r *Recorder) isNew(ctx context.Context, e arrived) bool {
	of := sameAs(e.Event)
	s := r.known[of]
	if s != nil && e.at.Sub(s.last) < window {
		s.count, s.last = s.count+1, e.at
		if s.due(e.at) {
			r.writeCount(ctx, of, s, e.at)
		}
		return false
	}
	if s != nil && s.count > s.written {
		r.writeCount(ctx, of, s, e.at)
	}
	if !r.allows(e) {
		r.dropped.Add(1)
		return false
	}
	return true
}

func (r *Recorder) create(ctx context.Context, e arrived) (done bool) {
	ref, err := r.post(ctx, e.Event, e.at)
	if e.Type == Warning && apierrors.HasStatusCause(err, namespaceTerminating) {
		if ref, err = r.post(ctx, e.aboutNamespace(), e.at); failure.Is[*deploy.ForbiddenError](err) {
			r.dropped.Add(1)
			return true // a program with rights only in this namespace can't write elsewhere
		}
	}
	if err != nil {
		return r.failed(err)
	}
	if len(r.known) < mostSeries {
		r.known[sameAs(e.Event)] = &series{ref: ref, count: 1, written: 1, last: e.at, at: e.at}
	}
	return true
}

// post sends an event to the API server.
func (r *Recorder) post(ctx context.Context, e Event, at time.Time) (deploy.Ref, error) {
	obj := r.object(e, at)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_, err := r.port.Create(ctx, obj, deploy.CreateOptions{FieldManager: r.controller})
	if failure.Is[*deploy.AlreadyExistsError](err) {
		err = nil // an earlier attempt created it, but its answer was lost
	}
	return deploy.RefOf(obj), err
}

func (r *Recorder) allows(e arrived) bool {
	of := about{e.Regarding.Ref, e.Regarding.UID}
	a := r.allowances[of]
	if a == nil {
		if len(r.allowances) >= mostSeries {
			clear(r.allowances)
		}
		a = &allowance{left: mostAtOnce, at: e.at}
		r.allowances[of] = a
	}
	return a.allow(e.at)
}

// writeCount writes how often an event has occurred. If the event isn't in the cluster any more, the next occurrence
// becomes a new event.
func (r *Recorder) writeCount(ctx context.Context, of same, s *series, now time.Time) {
	body, err := json.Marshal(map[string]any{"series": map[string]any{"count": s.count, "lastObservedTime": s.last.UTC().Format(metav1.RFC3339Micro)}})
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		_, err = r.port.Patch(ctx, s.ref, deploy.PatchRequest{Type: types.MergePatchType, Body: body, FieldManager: r.controller})
	}
	if err != nil {
		if r.failed(err) {
			delete(r.known, of)
		}
		return
	}
	s.written, s.at = s.count, now
}

// tidy writes the counts that are due; if all is true, it writes every count that has changed. It forgets events that
// haven't occurred for a while.
func (r *Recorder) tidy(ctx context.Context, now time.Time, all bool) {
	due := map[same]*series{}
	for of, s := range r.known {
		if s.due(now) || all && s.count > s.written {
			due[of] = s
		}
		if now.Sub(s.last) >= window {
			delete(r.known, of)
		}
	}
	for of, a := range r.allowances {
		if now.Sub(a.at) >= mostAtOnce*window {
			delete(r.allowances, of)
		}
	}
	for of, s := range due {
		if ctx.Err() != nil {
			return
		}
		r.writeCount(ctx, of, s, now)
	}
}

// namespaceTerminating is the cause with which an API server refuses new objects in a namespace that is being deleted.
const namespaceTerminating metav1.CauseType = "NamespaceTerminating"

// failed logs, at intervals, why an event couldn't be written. It reports whether a retry is useless.
func (r *Recorder) failed(err error) (final bool) {
	forbidden, isForbidden := errors.AsType[*deploy.ForbiddenError](err)
	final = true
	switch {
	case failure.Is[*deploy.UnavailableError](err), failure.Is[*deploy.TimeoutError](err),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		final = false
	case failure.Is[*deploy.NotFoundError](err), apierrors.HasStatusCause(err, namespaceTerminating):
		return true // its namespace is being deleted, or the event has expired
	case isForbidden && forbidden.MissingRight():
		err = fmt.Errorf("%w: grant create and patch of events in the group events.k8s.io, or record no events", err)
	}
	if final {
		r.dropped.Add(1)
	}
	if now := time.Now(); now.Sub(r.complained) >= quiet {
		r.complained = now
		r.logger.Warn("an event can't be written", "error", err)
	}
	return final
}
