package watch

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// backoff computes the time before each retry of an object: doubled with each failure up to a limit, less a random part
// of up to a tenth, so that objects that failed together aren't retried together. It is safe for concurrent use.
type backoff struct {
	first, limit time.Duration

	mu     sync.Mutex
	counts map[deploy.Ref]int
}

func newBackoff(first, limit time.Duration) *backoff {
	return &backoff{first: first, limit: limit, counts: map[deploy.Ref]int{}}
}

// next counts a failure and returns the time before the next retry.
func (b *backoff) next(key deploy.Ref) time.Duration {
	b.mu.Lock()
	n := b.counts[key]
	b.counts[key]++
	b.mu.Unlock()
	delay := trigger.Delay(b.first, b.limit, n)
	return delay - rand.N(delay/10+1)
}

func (b *backoff) reset(key deploy.Ref) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.counts, key)
}

func (b *backoff) failures(key deploy.Ref) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counts[key]
}

// state returns how many objects fail, and the longest present backoff of one of them.
func (b *backoff) state() (failing int, longest time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.counts {
		longest = max(longest, trigger.Delay(b.first, b.limit, n-1))
	}
	return len(b.counts), longest
}

const (
	// logAgain is how often failures are logged during an outage.
	logAgain = time.Minute
	// probeEvery is the time between two retries of the probe. If a cluster answers one request and fails another
	// within this time, that is no outage: the objects keep their backoff.
	probeEvery = 2 * time.Second
)

// outage is the common state of all objects while a cluster doesn't answer. Failures aren't logged for each object. One
// object, the probe, is retried often; when it succeeds, all others are retried immediately instead of after their long
// backoffs. The zero value is ready for use. It is safe for concurrent use.
type outage struct {
	mu sync.Mutex
	// logged is when a failure was last logged, and suppressed is how many failures weren't logged since then.
	logged     time.Time
	suppressed int
	// began is when the first reconcile failed after the last success, zero if none has failed. failed is when a
	// reconcile last failed. ended is when an outage last ended. If a reconcile fails soon after the end, the outage
	// goes on, since a cluster doesn't come back all at once.
	began, failed, ended time.Time
	// waiting are the objects whose reconciles failed; probed is when the probe last failed.
	waiting map[deploy.Ref]bool
	probe   deploy.Ref
	probed  time.Time
}

// fails notes a reconcile that failed. It reports whether to log the failure, how many failures weren't logged before,
// and whether key is the probe. timed: the cluster has set the time of the retry, so key doesn't wait for the end of
// the outage and isn't the probe.
func (o *outage) fails(key deploy.Ref, timed bool) (log bool, suppressed int, probe bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if o.failed = now; o.began.IsZero() {
		o.began = now
		if now.Sub(o.ended) < 2*probeEvery {
			o.began = now.Add(-probeEvery)
		}
	}
	probe = !timed && o.wait(key, now)
	if o.logged.IsZero() || now.Sub(o.logged) >= logAgain {
		suppressed, o.logged, o.suppressed = o.suppressed, now, 0
		return true, suppressed, probe
	}
	o.suppressed++
	return false, 0, probe
}

// wait notes that key waits for the end of the outage and reports whether it is the probe.
func (o *outage) wait(key deploy.Ref, now time.Time) (probe bool) {
	if o.waiting == nil {
		o.waiting = map[deploy.Ref]bool{}
	}
	o.waiting[key] = true
	// If the probe hasn't failed for a while, key replaces it.
	if o.probe == (deploy.Ref{}) || now.Sub(o.probed) > 2*probeEvery {
		o.probe = key
	}
	if o.probe == key {
		o.probed = now
	}
	return o.probe == key
}

// succeeds notes that a reconcile of key succeeded after failures. It reports whether this ends an outage, and which
// objects wait for the end. If nothing has failed for a long time, the outage is over already, and succeeds returns
// false.
func (o *outage) succeeds(key deploy.Ref) (over bool, waiting []deploy.Ref) {
	o.mu.Lock()
	defer o.mu.Unlock()
	over = !o.began.IsZero() && time.Since(o.failed) < 5*logAgain && time.Since(o.began) >= probeEvery
	delete(o.waiting, key)
	if over {
		waiting = slices.Collect(maps.Keys(o.waiting))
		o.logged, o.suppressed, o.ended = time.Time{}, 0, time.Now()
	}
	o.began, o.waiting, o.probe = time.Time{}, nil, deploy.Ref{}
	return over, waiting
}

// forget drops an object that is gone.
func (o *outage) forget(key deploy.Ref) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.waiting, key)
	if o.probe == key {
		o.probe = deploy.Ref{}
	}
}

// forgetKind drops the objects of a kind.
func (o *outage) forgetKind(kind schema.GroupVersionKind) {
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.waiting, func(key deploy.Ref, _ bool) bool { return key.Kind == kind })
	if o.probe.Kind == kind {
		o.probe = deploy.Ref{}
	}
}
