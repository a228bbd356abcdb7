package work_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/watcher/internal/work"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

var begin = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

var errBoom = errors.New("boom")

func state(uid string, generation int64) *work.Object {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetName("a")
	o.SetUID(types.UID(uid))
	o.SetGeneration(generation)
	o.SetResourceVersion(fmt.Sprint(uid, generation))
	return o
}

// often repeats twice, after a second and two.
func often(_ error, failures int) (time.Duration, bool) {
	return time.Second << failures, failures < 2
}

// done notes how a call has ended, as a policy says.
func done(w *work.Work, c work.Call, out work.Outcome, now time.Time, policy func(err error, failures int) (time.Duration, bool)) work.Verdict {
	decision := work.Decision{}
	if attempt, _, asked := w.Asks(c, out); asked {
		decision.After, decision.Again = policy(out.Err, attempt)
	}
	return w.Done(c, out, now, decision)
}

func TestInFlight(t *testing.T) {
	t.Parallel()
	first, second, third := state("u", 1), state("u", 2), state("u", 3)
	t.Run("watcher 3: an event during a call is another call, from the state of the call", func(t *testing.T) {
		t.Parallel()
		w := &work.Work{}
		w.Created(1, true)
		c, ok := w.Next(begin, first, 1, false)
		assert.True(t, ok)
		assert.Equal(t, work.Create, c.Action)
		w.Changed(2, first, second, work.Update, true)
		w.Changed(3, second, third, work.Update, true)
		done(w, c, work.Outcome{}, begin, often)
		c, ok = w.Next(begin, third, 3, false)
		assert.True(t, ok)
		assert.Equal(t, []any{work.Update, first, third}, []any{c.Action, c.Old, c.Object})
		done(w, c, work.Outcome{}, begin, often)
		assert.True(t, w.IsIdle())
	})
	t.Run("watcher 3: an event whose state the call had is no other call", func(t *testing.T) {
		t.Parallel()
		w := work.Settled("u1")
		w.Changed(1, first, second, work.Update, true)
		c, _ := w.Next(begin, third, 1, false) // the event of the third state is on its way
		done(w, c, work.Outcome{}, begin, often)
		w.Changed(2, second, third, work.Update, true)
		assert.True(t, w.IsIdle())
	})
	t.Run("watcher 3: an event after the read is another call, even if it comes before the call", func(t *testing.T) {
		t.Parallel()
		w := work.Settled("u1")
		w.Changed(1, first, second, work.Update, true)
		w.Changed(2, second, third, work.Update, true)
		c, _ := w.Next(begin, second, 1, false)
		done(w, c, work.Outcome{}, begin, often)
		c, ok := w.Next(begin, third, 2, false)
		assert.True(t, ok)
		assert.Equal(t, []*work.Object{second, third}, []*work.Object{c.Old, c.Object})
	})
	t.Run("watcher 7: an object that goes during a call is deleted, and the call isn't repeated", func(t *testing.T) {
		t.Parallel()
		w := &work.Work{}
		w.Created(1, true)
		c, _ := w.Next(begin, first, 1, false)
		w.Deleted(second, true)
		w.Created(3, true)
		assert.True(t, done(w, c, work.Outcome{Err: errBoom}, begin, often).IsStale)
		_, ok := w.Next(begin, state("v", 1), 3, false)
		assert.False(t, ok, "not before the deletion has ended")
		c, ok = w.Over(begin)
		assert.True(t, ok)
		assert.Equal(t, second, c.Object)
		done(w, c, work.Outcome{Err: errBoom}, begin, often)
		_, ok = w.Over(begin)
		assert.False(t, ok, "not yet")
		at, _ := w.Due(begin, true)
		assert.Equal(t, begin.Add(time.Second), at)
		c, _ = w.Over(at)
		done(w, c, work.Outcome{}, at, often)
		c, ok = w.Next(at, state("v", 1), 3, false)
		assert.True(t, ok)
		assert.Equal(t, work.Create, c.Action)
	})
	t.Run("watcher 5: an object that goes before its first call is passed over", func(t *testing.T) {
		t.Parallel()
		w := &work.Work{}
		w.Created(1, true)
		w.Deleted(first, true)
		_, ok := w.Over(begin)
		assert.False(t, ok)
		assert.True(t, w.IsEmpty())
	})
	t.Run("watcher 21: a call that was interrupted is due again, and isn't a failure", func(t *testing.T) {
		t.Parallel()
		w := work.Settled("u1")
		w.Changed(1, first, second, work.Update, true)
		c, _ := w.Next(begin, second, 1, false)
		w.Undo(c, begin)
		again, ok := w.Next(begin, second, 1, false)
		assert.True(t, ok)
		assert.Equal(t, c, again)
		done(w, again, work.Outcome{Err: errBoom}, begin, often)
		retry, ok := w.Next(begin.Add(time.Second), second, 1, false)
		assert.True(t, ok)
		w.Undo(retry, begin.Add(time.Second))
		again, ok = w.Next(begin.Add(time.Second), second, 1, false)
		assert.True(t, ok)
		assert.Equal(t, retry, again)
		w.Undo(again, begin)
		w.Deleted(second, true)
		over, ok := w.Over(begin)
		assert.True(t, ok)
		w.Undo(over, begin)
		_, ok = w.Over(begin)
		assert.True(t, ok)
	})
	t.Run("watcher 4: a resync of a change that wasn't handled is that change", func(t *testing.T) {
		t.Parallel()
		w := work.Settled("u1")
		w.Changed(1, first, second, work.Update, true)
		c, _ := w.Next(begin, second, 1, false)
		v := done(w, c, work.Outcome{Err: errBoom, IsFinal: true}, begin, often)
		assert.True(t, v.GivenUp)
		assert.ErrorIs(t, w.Err(), errBoom)
		assert.False(t, w.IsIdle(), "it counts as failing")
		w.Changed(2, second, second, work.Resync, true)
		c, _ = w.Next(begin, second, 2, false)
		assert.Equal(t, []any{work.Update, first}, []any{c.Action, c.Old})
		done(w, c, work.Outcome{}, begin, often)
		assert.NoError(t, w.Err())
		w.Changed(3, second, second, work.Resync, true)
		c, _ = w.Next(begin, second, 3, false)
		assert.Equal(t, []any{work.Resync, second}, []any{c.Action, c.Old})
	})
	t.Run("watcher 4: a call that fails with a state whose event comes later keeps the old state", func(t *testing.T) {
		t.Parallel()
		w := work.Settled("u1")
		w.Changed(1, first, second, work.Update, true)
		w.Changed(2, second, third, work.Update, true)
		c, _ := w.Next(begin, third, 1, false) // the view is ahead
		done(w, c, work.Outcome{Err: errBoom}, begin, often)
		_, ok := w.Next(begin, third, 2, false)
		assert.False(t, ok, "its state had a call")
		c, _ = w.Next(begin.Add(time.Second), third, 2, false)
		assert.Equal(t, []any{work.Update, first, third}, []any{c.Action, c.Old, c.Object})
		w.Changed(3, third, third, work.Update, true)
		done(w, c, work.Outcome{Err: errBoom}, begin, often)
		c, _ = w.Next(begin.Add(time.Minute), third, 3, false)
		assert.Equal(t, first, c.Old)
	})
	t.Run("watcher 3: no call is made with a state that was handled, if the object was read before an event", func(t *testing.T) {
		t.Parallel()
		w := work.Settled("u1")
		w.Changed(2, first, second, work.Update, true)
		_, ok := w.Next(begin, first, 1, false)
		assert.False(t, ok)
		c, ok := w.Next(begin, second, 2, false)
		assert.True(t, ok)
		assert.Equal(t, []any{work.Update, first, second}, []any{c.Action, c.Old, c.Object})
	})
	t.Run("watcher 19: what a call has left for its deletion is kept, if the object goes during the call", func(t *testing.T) {
		t.Parallel()
		w := &work.Work{}
		w.Created(1, true)
		c, _ := w.Next(begin, first, 1, false)
		w.Deleted(second, true)
		done(w, c, work.Outcome{Err: errBoom, Memo: "added"}, begin, often)
		c, _ = w.Over(begin)
		assert.Equal(t, "added", c.Memo)
	})
	t.Run("watcher 21: a repeated deletion that is interrupted keeps its failures", func(t *testing.T) {
		t.Parallel()
		w := work.Settled("u1")
		w.Deleted(first, true)
		c, _ := w.Over(begin)
		done(w, c, work.Outcome{Err: errBoom, State: "half"}, begin, often)
		c, _ = w.Over(begin.Add(time.Second))
		w.Undo(c, begin.Add(time.Second))
		c, _ = w.Over(begin.Add(time.Second))
		assert.Equal(t, []any{1, "half"}, []any{c.Failures, c.State})
	})
	for reason, row := range map[string]struct {
		out  work.Outcome
		want work.Verdict
	}{
		"a permanent one gives up":              {work.Outcome{Err: errBoom, IsFinal: true}, work.Verdict{Failures: 2, GivenUp: true}},
		"one with a time sets it":               {work.Outcome{Err: errBoom, Delay: time.Hour}, work.Verdict{Failures: 2, After: time.Hour}},
		"so does RequeueAfter":                  {work.Outcome{Err: errBoom, After: time.Hour}, work.Verdict{Failures: 2, After: time.Hour}},
		"another one leaves the retry standing": {work.Outcome{Err: errBoom}, work.Verdict{Failures: 1, After: time.Second}},
	} {
		t.Run("watcher 12: an error of a call for an event, while a retry stands: "+reason, func(t *testing.T) {
			t.Parallel()
			w := work.Settled("u1")
			w.Changed(1, first, second, work.Update, true)
			c, _ := w.Next(begin, second, 1, false)
			done(w, c, work.Outcome{Err: errBoom}, begin, often)
			w.Changed(2, second, third, work.Update, true)
			c, _ = w.Next(begin, third, 2, false)
			assert.Equal(t, row.want, done(w, c, row.out, begin, often))
		})
	}
	t.Run("watcher 14: a watcher that has asked for another call isn't given up", func(t *testing.T) {
		t.Parallel()
		w := work.Settled("u1")
		w.Changed(1, first, second, work.Update, true)
		c, _ := w.Next(begin, second, 1, false)
		done(w, c, work.Outcome{After: time.Hour}, begin, often)
		w.Changed(2, second, third, work.Update, true)
		c, _ = w.Next(begin, third, 2, false)
		assert.Equal(t, work.Verdict{Failures: 1, After: time.Hour}, done(w, c, work.Outcome{Err: errBoom, IsFinal: true}, begin, often))
		assert.ErrorIs(t, w.Err(), errBoom, "it counts as failing")
	})
	t.Run("watcher 11: what a policy of one's own gets", func(t *testing.T) {
		t.Parallel()
		w := work.Settled("u1")
		w.Changed(1, first, second, work.Update, true)
		c, _ := w.Next(begin, second, 1, false)
		done(w, c, work.Outcome{Err: errBoom}, begin, often)
		w.Changed(2, second, third, work.Update, true)
		q, ok := w.Question(third, 2)
		assert.True(t, ok)
		assert.Equal(t, work.Question{Action: work.Update, Object: third, Retry: work.Update, RetryObject: second, Err: errBoom}, q)
	})
}
