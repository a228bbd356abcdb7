package deploy

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// In a fight, this manager and another writer overwrite each other, which would never end. A fight is on after this
// manager has overwritten the other fightLimit times within fightWindow. If the fight is about a field, the field is
// left to the other manager. If it is about the whole intent of an object, with another process that has the same
// manager name, the object is written at most once per fightPause. That fight ends when a write has lasted for
// fightPeace, which is longer than the pause of the other process.
const (
	fightLimit  = 3
	fightWindow = 10 * time.Minute
	fightPause  = time.Minute
	fightPeace  = 2 * fightPause
)

// fight holds the latest times, at most fightLimit, at which this manager has overwritten the same other writer.
type fight []time.Time

func (f fight) with(now time.Time) fight {
	f = append(f, now)
	return f[max(len(f)-fightLimit, 0):]
}

// isOn reports whether there are fightLimit times within fightWindow.
func (f fight) isOn() bool {
	return len(f) == fightLimit && f[fightLimit-1].Sub(f[0]) <= fightWindow
}

// fights records takeovers. A Manager shares its fights with the Managers that With derives from it. The zero value is
// ready for use; it is safe for concurrent use.
type fights struct {
	mu      sync.Mutex
	fields  map[contestedKey]fight
	intents map[intentKey]*rivalry
	swept   time.Time
}

// contestedKey identifies a field of an object and the other manager that sets it.
type contestedKey struct {
	object  types.UID
	field   string
	manager string
}

// intentKey identifies an object and a manager. The object is identified by its name, because the other process may
// recreate it. The manager is identified by its hashKey.
type intentKey struct {
	ref     Ref
	hashKey string
}

// rivalry records our writes of an object whose intent another process may replace. An object that was only created or
// left unchanged has no rivalry.
type rivalry struct {
	// wrote is the hash of the intent that was written last, and at is the time of that write.
	wrote string
	at    time.Time
	// replaced are the times of the writes that replaced an intent of the other process.
	replaced fight
}

// tooOften reports whether a field of an object was taken from its other manager too often. Once it returns true for a
// field, it returns true for the life of the Manager.
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

// sweep drops records that are too old to count, at most once a minute.
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

// found reports whether another process has replaced our intent: the hash on the object differs from the hash of our
// last write, although our intent is still the same. It returns false if our intent has changed since, because then
// another replica of the same release may have written the object. If our intent was replaced too often, left is the
// time until the next write.
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

// wrote records a write of the intent with this hash. replaced means that the write replaced the intent of another
// process. If add is false, wrote only updates an existing record.
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

// contested returns how long the object still counts as contested by another process, if that process doesn't write
// again. It returns 0 for an object that isn't contested. After the time has passed, it forgets the replacements.
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

// checkFight returns an error if the object must not be written yet, because another process has replaced its intent
// too often. It sets t.replaced, which afterFight uses.
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

// afterFight records the write of result, if there was one. If another process contests the object, afterFight makes
// the result Conflicted, even if the object is as intended at the moment.
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
