package deploy

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// twins remembers of which objects another process keeps replacing the intent under the same field manager. Then each of
// the two would write for ever, as fast as it can. The zero value is ready for use; it is safe for concurrent use.
type twins struct {
	mu    sync.Mutex
	known map[types.UID]rewrites
}

// rewrites says how often an intent was written again, and when last.
type rewrites struct {
	count int
	last  time.Time
}

const (
	// quickRewrites is how often an intent is written again at once: a rollout of the operator may replace it now and then.
	quickRewrites = 3
	// firstRewritePause is the pause before the next one, each further one is twice as long.
	firstRewritePause = 10 * time.Second
	// longestRewritePause bounds the pause, and is how long it takes to forget that an intent was replaced.
	longestRewritePause = 10 * time.Minute
)

// pause is how long after the last write the next one may be.
func (r rewrites) pause() time.Duration {
	if r.count < quickRewrites {
		return 0
	}
	return min(firstRewritePause<<min(r.count-quickRewrites, 10), longestRewritePause)
}

// of returns what is known of an object, the zero value if that is long ago.
func (t *twins) of(object types.UID) rewrites {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.known[object]
	if time.Since(known.last) > 2*longestRewritePause {
		return rewrites{}
	}
	return known
}

// wrote records that an intent was written again over that of the other process.
func (t *twins) wrote(object types.UID) {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	for uid, known := range t.known {
		if now.Sub(known.last) > 2*longestRewritePause {
			delete(t.known, uid)
		}
	}
	if t.known == nil {
		t.known = map[types.UID]rewrites{}
	}
	t.known[object] = rewrites{t.known[object].count + 1, now}
}

// replacedByTwin reports whether live holds another intent than the one of the task, applied under our name by somebody
// else: we found that of the task there before.
func (t *task) replacedByTwin(live *unstructured.Unstructured) bool {
	hash := annotation(live, t.hashKey())
	if hash == "" || hash == t.in.hash {
		return false
	}
	if !t.wasSettled && t.twins.of(live.GetUID()).count == 0 {
		return false
	}
	return slices.ContainsFunc(managedEntries(live), func(entry map[string]any) bool {
		fields, _ := entry["fieldsV1"].(map[string]any) // unless somebody edited the annotation by hand
		return entry["manager"] == t.fieldManager && fieldSet(fields).holds([]any{"metadata", "annotations", t.hashKey()})
	})
}

// overTwin calls write, which writes over the intent of another process that has our name, unless it is too early for that.
func (t *task) overTwin(live *unstructured.Unstructured, write func() (Result, bool)) (result Result, enough bool) {
	if known := t.twins.of(live.GetUID()); time.Since(known.last) < known.pause() {
		return Result{Ref: t.in.ref, Action: Conflicted, Object: live, Err: &ReplacedError{Ref: t.in.ref, Manager: t.fieldManager}}, true
	}
	result, enough = write()
	if enough && result.Changed() && !t.dryRun {
		t.twins.wrote(live.GetUID())
	}
	return result, enough
}
