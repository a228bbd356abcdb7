package deploy

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// An object whose intent a rival, another process with this manager's name, replaces takeoverLimit times within
// takeoverWindow is written once in rivalPause from then on, and contested until a write has stood for rivalPeace:
// longer than the rival's own pause.
const (
	rivalPause = time.Minute
	rivalPeace = 2 * rivalPause
)

// rivals remembers the intents that were written over others within the last takeoverWindow, and how often a rival had
// replaced them. An object that is only created, or as it was left, isn't remembered. The zero value is ready for use;
// it is safe for concurrent use.
type rivals struct {
	mu    sync.Mutex
	known map[rivalKey]*rivalry
	swept time.Time
}

// rivalKey names an object, and a manager by its annotation. It isn't the uid: a rival may make the object anew.
type rivalKey struct {
	ref     Ref
	hashKey string
}

// rivalry is what is remembered of one object.
type rivalry struct {
	// wrote is the hash of the intent that was written last, at that time.
	wrote string
	at    time.Time
	// replaced are the latest times of writes over an intent that a rival had put in place of ours.
	replaced []time.Time
}

// fierce reports whether a rival has replaced our intent so often that it is written rarely.
func (r *rivalry) fierce() bool {
	return len(r.replaced) == takeoverLimit && r.replaced[takeoverLimit-1].Sub(r.replaced[0]) <= takeoverWindow
}

// rivalKey is the key for the object of a task.
func (t *task) rivalKey() rivalKey { return rivalKey{ref: t.in.ref, hashKey: t.hashKey()} }

// besideRival returns the error for an object that isn't written yet because a rival has replaced its intent too often.
// It also notes whether a rival's intent is there, for afterRival.
func (t *task) besideRival(live *unstructured.Unstructured) error {
	if t.dryRun {
		return nil
	}
	var left time.Duration
	t.replaced, left = t.rivals.found(t.rivalKey(), live.GetAnnotations()[t.hashKey()], t.in.hash, time.Now())
	if left <= 0 {
		return nil
	}
	return t.rivalError(left)
}

// afterRival records what the work on an object has written. An object that a rival fights for is Conflicted, even if
// it is as it should be at the moment.
func (t *task) afterRival(result Result) Result {
	if t.dryRun {
		return result
	}
	now := time.Now()
	if result.Changed() {
		t.rivals.wrote(t.rivalKey(), t.in.hash, t.replaced, result.Action != Created, now)
	}
	if left := t.rivals.contested(t.rivalKey(), now); left > 0 && result.Err == nil {
		result.Action, result.Err = Conflicted, t.rivalError(left)
	}
	return result
}

func (t *task) rivalError(left time.Duration) error {
	field := FieldConflict{
		Field: ".metadata.annotations." + t.hashKey(), Manager: t.fieldManager, Message: fmt.Sprintf("conflict with %q", t.fieldManager),
	}
	return &ConflictError{Ref: t.in.ref, Fields: []FieldConflict{field}, Fought: true, SameManager: true, RetryAfter: left}
}

// found reports whether the hash on an object is a rival's: it isn't the one that was written last, which is wanted
// still. An intent that has changed since may have been written by another replica of the same release. If the rival
// has put its intent there too often already, left is the time until the next write.
func (r *rivals) found(key rivalKey, hash, wanted string, now time.Time) (replaced bool, left time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.known[key]
	if one == nil || hash == "" || hash == wanted || wanted != one.wrote {
		return false, 0
	}
	if one.fierce() {
		left = rivalPause - now.Sub(one.at)
	}
	return true, left
}

// wrote records that the intent with this hash was written, and whether it took the place of a rival's. Only what is
// known already is recorded if add is false.
func (r *rivals) wrote(key rivalKey, hash string, replaced, add bool, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep(now)
	one := r.known[key]
	if one == nil && !add {
		return
	}
	if one == nil {
		if r.known == nil {
			r.known = map[rivalKey]*rivalry{}
		}
		one = &rivalry{}
		r.known[key] = one
	}
	one.wrote, one.at = hash, now
	if replaced {
		times := append(one.replaced, now)
		one.replaced = times[max(len(times)-takeoverLimit, 0):]
	}
}

// contested returns for how long an object is to be taken for one that a rival fights for, if nothing is heard of it.
// Once that time is over the replacements don't count any more.
func (r *rivals) contested(key rivalKey, now time.Time) (left time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.known[key]
	if one == nil || !one.fierce() {
		return 0
	}
	if left = rivalPeace - now.Sub(one.at); left <= 0 {
		one.replaced = nil
	}
	return left
}

// sweep drops, at most once a minute, what is so long ago that it can't come to the limit any more.
func (r *rivals) sweep(now time.Time) {
	if now.Sub(r.swept) < time.Minute {
		return
	}
	r.swept = now
	for key, one := range r.known {
		if now.Sub(one.at) > takeoverWindow {
			delete(r.known, key)
		}
	}
}
