package watch

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/reconcile/request"
)

const (
	// sayAgain is how often it is said while an outage lasts that reconciles fail because of it.
	sayAgain = time.Minute
	// scouting is how often it is tried at least, while an outage lasts, whether it is over.
	scouting = 2 * time.Second
)

// outage is what all objects have in common while a cluster doesn't answer. It keeps that from being said once for each, and
// has one of them tried often, so that the others, whose retries are far apart by then, needn't find out by themselves that it
// is over. The zero value is ready for use; it is safe for concurrent use.
type outage struct {
	mu sync.Mutex
	// said is when it was last said that a reconcile failed, zero while there is no outage; unsaid how many did since.
	said   time.Time
	unsaid int
	// failed is when one did last.
	failed time.Time
	// waiting are the objects whose reconciles failed, scout the one that is tried often, and scouted when it was last.
	waiting map[request.Key]bool
	scout   request.Key
	scouted time.Time
}

// fails takes note of a reconcile that failed. It tells whether that is to be said, how many weren't before, and whether key is
// the scout.
func (o *outage) fails(key request.Key) (say bool, before int, scout bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if o.waiting == nil {
		o.waiting = map[request.Key]bool{}
	}
	o.waiting[key] = true
	// One that isn't heard of any more, as it fails by something else by now, has a successor.
	if o.scout == (request.Key{}) || now.Sub(o.scouted) > 2*scouting {
		o.scout = key
	}
	if o.failed = now; o.scout == key {
		o.scouted = now
	}
	if o.said.IsZero() || now.Sub(o.said) >= sayAgain {
		before, o.said, o.unsaid = o.unsaid, now, 0
		return true, before, o.scout == key
	}
	o.unsaid++
	return false, 0, o.scout == key
}

// succeeds takes note of a reconcile that had failed before. It tells whether that is the end of an outage, and which objects wait
// for it. Of one that nothing was heard of for long it isn't.
func (o *outage) succeeds(key request.Key) (over bool, waiting []request.Key) {
	o.mu.Lock()
	defer o.mu.Unlock()
	over = !o.said.IsZero() && time.Since(o.failed) < 5*sayAgain
	delete(o.waiting, key)
	if over {
		waiting = slices.Collect(maps.Keys(o.waiting))
	}
	o.said, o.unsaid, o.waiting, o.scout = time.Time{}, 0, nil, request.Key{}
	return over, waiting
}

// forget drops an object that is gone.
func (o *outage) forget(key request.Key) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.waiting, key)
	if o.scout == key {
		o.scout = request.Key{}
	}
}
