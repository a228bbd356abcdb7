package daemon

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"k8s.io/apimachinery/pkg/types"
)

// object is an object that has daemons, or has had daemons that ended by themselves.
type object[T any] struct {
	key    deploy.Ref
	uid    types.UID
	latest *atomic.Pointer[T]
	// daemons, by id.
	daemons map[string]*daemon[T]
	// forgotten: nobody wants to know how the daemons end.
	forgotten bool
}

// daemon is one daemon of an object.
type daemon[T any] struct {
	// record is what is known of its runs, the zero value after a Stop. err is the error of the last one.
	record progress.Record
	err    error
	// run is nil if there is no goroutine.
	run *run[T]
}

// want starts a daemon of an object unless it has a goroutine, has ended or isn't due.
func (k *Keeper[T]) want(o *object[T], spec Spec[T], now time.Time) {
	d := o.daemons[spec.ID]
	if d == nil {
		d = &daemon[T]{}
		o.daemons[spec.ID] = d
		if spec.Delay > 0 {
			d.record.Due = now.Add(spec.Delay)
		}
	}
	switch {
	case d.run != nil, d.record.HasEnded(), d.record.Due.After(now):
		return
	case k.life == nil:
		k.early[o.key] = struct{}{}
		return
	}
	if why := spec.Limits.Spent(d.record, now); why != "" { // the pass has come late
		d.record, d.err = d.record.FailedForGood(why, now), &givenUpError{why, d.err}
		d.record.Attempts-- // there was none
		k.reports = append(k.reports, Report[T]{What: GivenUp, Key: o.key, Object: o.latest.Load(), ID: spec.ID, Err: d.err})
		return
	}
	k.start(o, d, spec, now)
}

// drop stops the daemons of an object that aren't among those that it is to have.
func (k *Keeper[T]) drop(o *object[T], why Stop, wanted []Spec[T]) {
	for id, d := range o.daemons {
		if slices.ContainsFunc(wanted, func(spec Spec[T]) bool { return spec.ID == id }) {
			continue
		}
		switch {
		case d.run != nil:
			k.stop(d.run, why)
		case !d.record.HasEnded():
			d.record, d.err = progress.Record{}, nil
		}
	}
}

// forget stops the daemons of an object, and forgets which have ended.
func (k *Keeper[T]) forget(o *object[T], why Stop) {
	k.drop(o, why, nil)
	for _, d := range o.daemons {
		d.record, d.err = progress.Record{}, nil
	}
}

// tidy drops what needn't be kept.
func (k *Keeper[T]) tidy(o *object[T]) {
	for id, d := range o.daemons {
		if d.run == nil && d.record == (progress.Record{}) {
			delete(o.daemons, id)
		}
	}
	if len(o.daemons) == 0 {
		delete(k.objects, o.key)
	}
}
