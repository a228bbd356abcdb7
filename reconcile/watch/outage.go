package watch

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
)

const (
	// sayAgain is how often it is said while an outage lasts that reconciles fail because of it.
	sayAgain = time.Minute
	// scouting is how often it is tried at least, while an outage lasts, whether it is over. A cluster that answers one request
	// and fails another in less time has no outage: its objects keep to their backoff.
	scouting = 2 * time.Second
)

// outage is what all objects have in common while a cluster doesn't answer. It keeps that from being said once for each, and
// has one of them tried often, so that the others, whose retries are far apart by then, needn't find out by themselves that it
// is over. The zero value is ready for use; it is safe for concurrent use.
type outage struct {
	mu sync.Mutex
	// said is when it was last said that a reconcile failed, unsaid how many did since.
	said   time.Time
	unsaid int
	// began is when the first one failed since one succeeded, zero if none did; failed when one did last. ended is when an outage
	// did last, which goes on if one fails again soon: not all of a cluster comes back at once.
	began, failed, ended time.Time
	// waiting are the objects whose reconciles failed, scout the one that is tried often, and scouted when it was last.
	waiting map[deploy.Ref]bool
	scout   deploy.Ref
	scouted time.Time
}

// fails takes note of a reconcile that failed. It tells whether that is to be said, how many weren't before, and whether key is
// the scout. timed: the cluster has said when it may be asked again, which is kept to.
func (o *outage) fails(key deploy.Ref, timed bool) (say bool, before int, scout bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if o.failed = now; o.began.IsZero() {
		o.began = now
		if now.Sub(o.ended) < 2*scouting {
			o.began = now.Add(-scouting)
		}
	}
	scout = !timed && o.wait(key, now)
	if o.said.IsZero() || now.Sub(o.said) >= sayAgain {
		before, o.said, o.unsaid = o.unsaid, now, 0
		return true, before, scout
	}
	o.unsaid++
	return false, 0, scout
}

// wait has key wait for the end of the outage and tells whether it is the scout.
func (o *outage) wait(key deploy.Ref, now time.Time) (scout bool) {
	if o.waiting == nil {
		o.waiting = map[deploy.Ref]bool{}
	}
	o.waiting[key] = true
	// One that isn't heard of any more, as it fails by something else by now, has a successor.
	if o.scout == (deploy.Ref{}) || now.Sub(o.scouted) > 2*scouting {
		o.scout = key
	}
	if o.scout == key {
		o.scouted = now
	}
	return o.scout == key
}

// succeeds takes note of a reconcile that had failed before. It tells whether that is the end of an outage, and which objects wait
// for it. Of one that nothing was heard of for long it isn't.
func (o *outage) succeeds(key deploy.Ref) (over bool, waiting []deploy.Ref) {
	o.mu.Lock()
	defer o.mu.Unlock()
	over = !o.began.IsZero() && time.Since(o.failed) < 5*sayAgain && time.Since(o.began) >= scouting
	delete(o.waiting, key)
	if over {
		waiting = slices.Collect(maps.Keys(o.waiting))
		o.said, o.unsaid, o.ended = time.Time{}, 0, time.Now()
	}
	o.began, o.waiting, o.scout = time.Time{}, nil, deploy.Ref{}
	return over, waiting
}

// forget drops an object that is gone.
func (o *outage) forget(key deploy.Ref) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.waiting, key)
	if o.scout == key {
		o.scout = deploy.Ref{}
	}
}
