package event

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// mostWaiting is how many events wait to be written.
	mostWaiting = 1000
	// timeout is how long one may take, lastWords how long all may that still wait at the end.
	timeout, lastWords = 5 * time.Second, 5 * time.Second
	// tidy is how often is looked which counts are to be written.
	tidy = time.Minute
)

// Recorder writes events into a cluster. It is a Sink.
type Recorder struct {
	port                 deploy.Port
	controller, instance string
	logger               *slog.Logger
	waiting              chan arrived
	dropped              atomic.Uint64

	// What follows is Run's alone.
	known      map[same]*series
	allowances map[types.UID]*allowance
	complained string
}

type arrived struct {
	Event
	at time.Time
}

// Option sets what is rarely set.
type Option func(*Recorder)

// Logger is told, once, why events can't be written. Default: slog.Default.
func Logger(logger *slog.Logger) Option { return func(r *Recorder) { r.logger = logger } }

// NewRecorder returns one that writes through port. controller is the name of the program, instance that of its process: of the Pod.
func NewRecorder(port deploy.Port, controller, instance string, options ...Option) *Recorder {
	r := &Recorder{
		port: port, controller: cut(controller, mostWord), instance: cut(instance, mostWord), logger: slog.Default(),
		waiting: make(chan arrived, mostWaiting), known: map[same]*series{}, allowances: map[types.UID]*allowance{},
	}
	for _, option := range options {
		option(r)
	}
	return r
}

// Record implements Sink. Events of events, and of what has no name, are left out.
func (r *Recorder) Record(e Event) {
	if e.Regarding.Kind.Kind == "Event" || e.Regarding.Name == "" || e.Reason == "" {
		return
	}
	select {
	case r.waiting <- arrived{e.settled(), time.Now()}:
	default:
		r.dropped.Add(1)
	}
}

// Dropped is how many events weren't written, since there were too many of them or they couldn't be.
func (r *Recorder) Dropped() uint64 { return r.dropped.Load() }

// Run writes events until ctx ends, and what is waiting then within five seconds. It is to be called once.
func (r *Recorder) Run(ctx context.Context) {
	// What is being written at the end is written.
	writing := context.WithoutCancel(ctx)
	ticker := time.NewTicker(tidy)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case e := <-r.waiting:
			r.write(writing, e)
		case now := <-ticker.C:
			r.tidy(writing, now, false)
		}
	}
	r.finish(writing)
}

func (r *Recorder) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastWords)
	defer cancel()
	for ctx.Err() == nil {
		select {
		case e := <-r.waiting:
			r.write(ctx, e)
		default:
			r.tidy(ctx, time.Now(), true)
			return
		}
	}
}

func (r *Recorder) write(ctx context.Context, e arrived) {
	if s := r.again(e); s != nil {
		if s.due(e.at) {
			r.writeCount(ctx, sameAs(e.Event), s, e.at)
		}
		return
	}
	if !r.allows(e) {
		r.dropped.Add(1)
		return
	}
	r.create(ctx, e)
}

func (r *Recorder) create(ctx context.Context, e arrived) {
	obj := r.object(e.Event, e.at)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if _, err := r.port.Create(ctx, obj, deploy.CreateOptions{FieldManager: r.controller}); err != nil {
		r.failed(err)
		return
	}
	r.complained = ""
	if len(r.known) < mostSeries {
		r.known[sameAs(e.Event)] = &series{ref: deploy.RefOf(obj), count: 1, written: 1, last: e.at, at: e.at}
	}
}

// again counts an event that has been written already, nil for one that hasn't.
func (r *Recorder) again(e arrived) *series {
	s := r.known[sameAs(e.Event)]
	if s == nil || e.at.Sub(s.last) >= window {
		return nil
	}
	s.count, s.last = s.count+1, e.at
	return s
}

func (r *Recorder) allows(e arrived) bool {
	a := r.allowances[e.Regarding.UID]
	if a == nil {
		if len(r.allowances) >= mostSeries {
			clear(r.allowances)
		}
		a = &allowance{left: mostAtOnce, at: e.at}
		r.allowances[e.Regarding.UID] = a
	}
	return a.allow(e.at)
}

// writeCount writes how often an event came. One that is gone by then is begun anew when it comes again.
func (r *Recorder) writeCount(ctx context.Context, of same, s *series, now time.Time) {
	body, err := json.Marshal(map[string]any{"series": map[string]any{"count": s.count, "lastObservedTime": s.last.UTC().Format(metav1.RFC3339Micro)}})
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		_, err = r.port.Patch(ctx, s.ref, deploy.Patch{Type: types.MergePatchType, Body: body, FieldManager: r.controller})
	}
	if err != nil {
		r.failed(err)
		delete(r.known, of)
		return
	}
	s.written, s.at = s.count, now
}

// tidy writes counts, all of them at the end, and forgets what hasn't come for a while.
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
	for uid, a := range r.allowances {
		if now.Sub(a.at) >= mostAtOnce*window {
			delete(r.allowances, uid)
		}
	}
	for of, s := range due {
		if ctx.Err() != nil {
			return
		}
		r.writeCount(ctx, of, s, now)
	}
}

// failed says why an event couldn't be written, unless that was said last time.
func (r *Recorder) failed(err error) {
	r.dropped.Add(1)
	said := err.Error()
	var forbidden *deploy.ForbiddenError
	var gone *deploy.NotFoundError
	switch {
	case errors.As(err, &gone): // its namespace goes, or it went after an hour
		return
	case errors.As(err, &forbidden):
		said = "forbidden"
		err = fmt.Errorf("%w: allow to create and patch events in the group events.k8s.io, or switch them off", err)
	}
	if said != r.complained {
		r.complained = said
		r.logger.Warn("an event can't be written", "error", err)
	}
}
