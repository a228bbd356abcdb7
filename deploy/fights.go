package deploy

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// What is taken from the same opponent, and back, fightLimit times within fightWindow is a fight: both would go on for
// ever. A contested field is left to its holder from then on. An object whose whole intent another process of this
// manager's name replaces is written once in fightPause, until a write has stood for fightPeace: longer than the other
// process's own pause.
const (
	fightLimit  = 3
	fightWindow = 10 * time.Minute
	fightPause  = time.Minute
	fightPeace  = 2 * fightPause
)

// fight are the latest times, fightLimit at most, at which something was taken from the same opponent.
type fight []time.Time

func (f fight) with(now time.Time) fight {
	f = append(f, now)
	return f[max(len(f)-fightLimit, 0):]
}

// isOn reports whether it was taken too often.
func (f fight) isOn() bool {
	return len(f) == fightLimit && f[fightLimit-1].Sub(f[0]) <= fightWindow
}

// fights remembers what was taken from whom, by the Managers that With makes of one another. The zero value is ready
// for use; it is safe for concurrent use.
type fights struct {
	mu      sync.Mutex
	fields  map[contestedKey]fight
	intents map[intentKey]*rivalry
	swept   time.Time
}

// contestedKey is a field of an object, and who else sets it.
type contestedKey struct {
	object  types.UID
	field   string
	manager string
}

// intentKey names an object, and a manager by its annotation. It isn't the uid: the other process may make the object
// anew.
type intentKey struct {
	ref     Ref
	hashKey string
}

// rivalry is what is remembered of an object whose intent another process may replace. One that is only created, or as
// it was left, isn't remembered.
type rivalry struct {
	// wrote is the hash of the intent that was written last, at that time.
	wrote string
	at    time.Time
	// replaced are the writes over an intent that the other process had put in place of ours.
	replaced fight
}

// tooOften reports whether a field of an object was taken from its holder so often that it isn't taken again. Once it
// is so it stays so for as long as the Manager lives.
func (f *fights) tooOften(object types.UID, c FieldConflict) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fields[contestedKey{object, c.Field, c.Manager}].isOn()
}

// took records that fields of an object were taken.
func (f *fights) took(object types.UID, fields []FieldConflict) {
	if len(fields) == 0 {
		return
	}
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fields == nil {
		f.fields = map[contestedKey]fight{}
	}
	f.sweep(now)
	for _, c := range fields {
		key := contestedKey{object, c.Field, c.Manager}
		f.fields[key] = f.fields[key].with(now)
	}
}

// sweep drops, at most once a minute, what is so long ago that it can't come to the limit any more.
func (f *fights) sweep(now time.Time) {
	if now.Sub(f.swept) < time.Minute {
		return
	}
	f.swept = now
	maps.DeleteFunc(f.fields, func(_ contestedKey, times fight) bool {
		return len(times) < fightLimit && now.Sub(times[len(times)-1]) > fightWindow
	})
	maps.DeleteFunc(f.intents, func(_ intentKey, known *rivalry) bool { return now.Sub(known.at) > fightWindow })
}

// found reports whether the hash on an object is that of another process: it isn't the one that was written last, which
// is wanted still. An intent that has changed since may have been written by another replica of the same release. If
// the other process has put its intent there too often already, left is the time until the next write.
func (f *fights) found(key intentKey, hash, wanted string, now time.Time) (replaced bool, left time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.intents[key]
	if known == nil || hash == "" || hash == wanted || wanted != known.wrote {
		return false, 0
	}
	if known.replaced.isOn() {
		left = fightPause - now.Sub(known.at)
	}
	return true, left
}

// wrote records that the intent with this hash was written, and whether it took the place of another process's. Only
// what is known already is recorded if add is false.
func (f *fights) wrote(key intentKey, hash string, replaced, add bool, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sweep(now)
	known := f.intents[key]
	if known == nil {
		if !add {
			return
		}
		if f.intents == nil {
			f.intents = map[intentKey]*rivalry{}
		}
		known = &rivalry{}
		f.intents[key] = known
	}
	known.wrote, known.at = hash, now
	if replaced {
		known.replaced = known.replaced.with(now)
	}
}

// contested returns for how long an object is to be taken for one that another process fights for, if nothing is heard
// of it. Once that time is over the replacements don't count any more.
func (f *fights) contested(key intentKey, now time.Time) (left time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.intents[key]
	if known == nil || !known.replaced.isOn() {
		return 0
	}
	if left = fightPeace - now.Sub(known.at); left <= 0 {
		known.replaced = nil
	}
	return left
}

func (t *task) intentKey() intentKey { return intentKey{ref: t.in.ref, hashKey: t.hashKey()} }

// checkFight returns the error for an object that isn't written yet because another process has replaced its intent too
// often. It also notes whether the intent of another process is there, for afterFight.
func (t *task) checkFight(live *unstructured.Unstructured) error {
	if t.dryRun {
		return nil
	}
	var left time.Duration
	t.replaced, left = t.memory.fights.found(t.intentKey(), live.GetAnnotations()[t.hashKey()], t.in.hash, time.Now())
	if left <= 0 {
		return nil
	}
	return t.fightError(left)
}

// afterFight records what the work on an object has written. An object that another process fights for is Conflicted,
// even if it is as it should be at the moment.
func (t *task) afterFight(result Result) Result {
	if t.dryRun {
		return result
	}
	now := time.Now()
	if result.Changed() {
		t.memory.fights.wrote(t.intentKey(), t.in.hash, t.replaced, result.Action != Created, now)
	}
	if left := t.memory.fights.contested(t.intentKey(), now); left > 0 && result.Err == nil {
		result.Action, result.Err = Conflicted, t.fightError(left)
	}
	return result
}

func (t *task) fightError(left time.Duration) error {
	field := FieldConflict{
		Field: ".metadata.annotations." + t.hashKey(), Manager: t.fieldManager, Message: fmt.Sprintf("conflict with %q", t.fieldManager),
	}
	return &ConflictError{Ref: t.in.ref, Fields: []FieldConflict{field}, Fought: true, SameManager: true, RetryAfter: left}
}
