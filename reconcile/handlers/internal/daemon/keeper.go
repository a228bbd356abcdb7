package daemon

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/types"
)

// Keeper keeps the daemons of the objects of one kind. It is a source.External: daemons run only while Run does. It
// keeps nothing of objects without daemons. Its methods are safe for concurrent use, and don't wait for daemons, except
// Run.
type Keeper[T any] struct {
	mu     sync.Mutex
	report func(Report[T])
	// life is nil while no daemon may be started.
	life    *life
	objects map[deploy.Ref]*object[T]
	// early are the objects whose daemons wait for Run.
	early map[deploy.Ref]struct{}
	count Count
	// held is the number of daemons that the end of Run waits for. idle is closed when there is none, if it isn't nil.
	held int
	idle chan struct{}
	// What has happened since mu was taken, for unlock: reports, objects that are to be reconciled, and how many
	// daemons the end of Run no longer waits for.
	reports  []Report[T]
	brings   []deploy.Ref
	released int
}

// Count is how many daemons there are, by what they do.
type Count struct {
	// Running daemons weren't stopped, Stopping ones were and haven't returned yet, and Abandoned ones haven't returned
	// within their Grace.
	Running, Stopping, Abandoned int
}

// New returns a Keeper. report is called for each Report, one goroutine's after the other's end, but concurrently for
// several daemons. It must not block.
func New[T any](report func(Report[T])) *Keeper[T] {
	return &Keeper[T]{report: report, objects: map[deploy.Ref]*object[T]{}, early: map[deploy.Ref]struct{}{}}
}

// Renew returns a Keeper that knows no objects and reports to report: k itself, so that daemons which were abandoned
// keep their places until they return. While Run runs, it is another Keeper.
func (k *Keeper[T]) Renew(report func(Report[T])) *Keeper[T] {
	k.mu.Lock()
	defer k.unlock()
	if k.life != nil {
		return New(report)
	}
	k.report = report
	clear(k.early)
	for _, o := range k.objects {
		o.forgotten = true
		k.forget(o, Gone)
		k.tidy(o)
	}
	return k
}

// Count returns how many daemons there are.
func (k *Keeper[T]) Count() Count {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.count
}

// Keep lets an object have the given daemons, and no others: those that are missing are started if it is time for them,
// the other ones are stopped by Mismatch. The uid tells objects of one name apart: a new one stops the daemons of the
// old one. obj becomes the latest state of the object. Don't call Keep for an object that is being deleted.
func (k *Keeper[T]) Keep(key deploy.Ref, uid types.UID, obj *T, daemons []Spec[T]) Standing {
	k.mu.Lock()
	defer k.unlock()
	o := k.objects[key]
	if o == nil {
		if len(daemons) == 0 {
			return Standing{}
		}
		o = &object[T]{key: key, uid: uid, latest: &atomic.Pointer[T]{}, daemons: map[string]*daemon[T]{}}
		k.objects[key] = o
	}
	if o.uid != uid {
		k.forget(o, Replaced)
		o.uid, o.latest = uid, &atomic.Pointer[T]{}
	}
	o.latest.Store(obj)
	o.forgotten = false
	k.drop(o, Mismatch, daemons)
	for _, spec := range daemons {
		k.want(o, spec, time.Now())
	}
	k.tidy(o)
	return o.standing()
}

// Stop stops all daemons of an object, because of why. Those that ended by themselves stay so.
func (k *Keeper[T]) Stop(key deploy.Ref, why Stop) Standing {
	k.mu.Lock()
	defer k.unlock()
	delete(k.early, key)
	o := k.objects[key]
	if o == nil {
		return Standing{}
	}
	k.drop(o, why, nil)
	k.tidy(o)
	return o.standing()
}

// Forget stops all daemons of an object that is gone or isn't seen any more, and forgets the object: when a pass sees
// it again, daemons that had ended are started anew. The object isn't brought to reconcile any more.
func (k *Keeper[T]) Forget(key deploy.Ref) {
	k.mu.Lock()
	defer k.unlock()
	delete(k.early, key)
	if o := k.objects[key]; o != nil {
		o.forgotten = true
		k.forget(o, Gone)
		k.tidy(o)
	}
}

// unlock releases mu, and passes on what has happened since it was taken.
func (k *Keeper[T]) unlock() {
	report, reports, brings, released, life := k.report, k.reports, k.brings, k.released, k.life
	k.reports, k.brings, k.released = nil, nil, 0
	k.mu.Unlock()
	for _, r := range reports {
		report(r)
	}
	if life != nil && len(brings) > 0 {
		life.target.Bring(brings...)
	}
	if released > 0 { // the end of Run comes after the reports
		k.mu.Lock()
		defer k.mu.Unlock()
		k.held -= released
		k.endWait()
	}
}
