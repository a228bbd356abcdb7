package handlers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sets returns a handler that sets the volume in the status to the mode in the spec.
func sets(_ context.Context, r *handlers.Request[Claim]) error {
	mode := r.Object.Spec.Mode
	r.Update(func(c *Claim) { c.Status.Volume = mode })
	return nil
}

func TestSeenWrites(t *testing.T) {
	t.Run("handlers 86: the finalizer stays until the deletion is handled", func(t *testing.T) {
		var j journal
		c := handlers.New[Claim](claims)
		c.Seen("seen", func(_ context.Context, r *handlers.Request[Claim]) error {
			if r.Object.DeletionTimestamp != nil {
				r.Update(func(c *Claim) { c.Status.Volume = "going" })
			}
			return nil
		})
		c.On(handlers.Delete, "delete", j.noting("delete"))
		h := drive(t, c)
		h.Apply(small)
		h.RunUntilSettled()
		h.Delete("Claim small")
		h.RunUntilSettled()
		assert.Equal(t, []string{"delete delete"}, j.taken())
		h.Gone("Claim small")
	})
	t.Run("handlers 86: the same value costs one write, then none", func(t *testing.T) {
		c := handlers.New[Claim](claims)
		c.Seen("seen", func(_ context.Context, r *handlers.Request[Claim]) error {
			r.Update(func(c *Claim) { c.Status.Volume = "v" })
			return r.Result("all")
		})
		c.On(handlers.Delete, "delete", func(context.Context, *handlers.Request[Claim]) error { return nil })
		h := drive(t, c)
		h.Apply(small)
		h.RunUntilSettled()
		h.Writes(2) // the status, and the finalizer
		assert.Equal(t, map[string]any{"volume": "v", "seen": "all"}, h.Get("Claim small").Object["status"])
		edit(h, "size", int64(2))
		h.RunUntilSettled()
		h.Writes(0)
	})
	t.Run("handlers 86: what a pass couldn't write isn't lost", func(t *testing.T) {
		var j journal
		c := handlers.New[Claim](claims)
		c.On(handlers.Create, "create", func(_ context.Context, r *handlers.Request[Claim]) error {
			j.write("create")
			r.Update(func(c *Claim) { c.Labels = map[string]string{"made": "yes"} })
			return nil
		})
		c.Seen("seen", sets)
		h := drive(t, c)
		h.Apply(small)
		require.NoError(t, h.Memory().Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Kind: claims, Count: 1, Code: 403}))
		_, err := h.Reconcile("Claim small")
		require.Error(t, err)
		h.SetStatus("Claim small", map[string]any{"volume": "other"})
		h.RunUntilSettled()
		assert.Equal(t, []string{"create"}, j.taken())
		assert.Equal(t, map[string]string{"made": "yes"}, h.Get("Claim small").GetLabels())
		assert.Empty(t, h.Get("Claim small").Object["status"])
	})
	t.Run("handlers 86: a record in memory stays", func(t *testing.T) {
		var j journal
		c := handlers.New[Claim](claims, handlers.Stateless())
		c.On(handlers.Create, "create", j.noting("create"))
		c.Seen("seen", sets)
		h := drive(t, c)
		h.Apply(small)
		h.RunUntilSettled()
		edit(h, "mode", "x")
		h.RunUntilSettled()
		assert.Equal(t, []string{"create create"}, j.taken())
	})
}

func TestSeenMemo(t *testing.T) {
	t.Run("handlers 89: a memo is there at the deletion, and not for the next object", testSeenMemo)
}

func testSeenMemo(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.Seen("seen", func(_ context.Context, r *handlers.Request[Claim]) error {
		j.write("%s %d", r.Event, *handlers.Memo[int](r))
		return nil
	})
	c.On(handlers.Create, "create", func(_ context.Context, r *handlers.Request[Claim]) error {
		*handlers.Memo[int](r) = 7
		return nil
	})
	h := drive(t, c)
	h.Apply(small)
	h.RunUntilSettled()
	j.taken()
	h.Delete("Claim small")
	h.RunUntilSettled()
	assert.Equal(t, []string{"DELETED 7"}, j.taken())
	h.Apply(small)
	h.RunUntilSettled()
	j.taken()
	h.Delete("Claim small")
	h.Apply(small)
	h.RunUntilSettled()
	assert.Equal(t, []string{"DELETED 7", "ADDED 0"}, j.taken()[:2])
	h.Leave("Claim small")
	h.Enter("Claim small")
	h.RunUntilSettled()
	assert.Equal(t, []string{"ADDED 0"}, j.taken(), "it was watched anew")
}

func TestSeenIdle(t *testing.T) {
	t.Run("handlers 81: a change by a handler of events doesn't count", testSeenIdle)
}

func testSeenIdle(t *testing.T) {
	calls := 0
	c := handlers.New[Claim](claims)
	c.Timer("idle", time.Hour, func(context.Context, *handlers.Request[Claim]) error { calls++; return nil }, handlers.Idle(time.Minute))
	c.Seen("seen", func(_ context.Context, r *handlers.Request[Claim]) error {
		if r.Object.Status.Volume != "" {
			r.Update(func(c *Claim) { c.Spec.Mode = "fast" })
		}
		return nil
	})
	h := drive(t, c)
	h.Apply(small)
	h.Advance(50 * time.Second)
	h.SetStatus("Claim small", map[string]any{"volume": "v"})
	h.Advance(5 * time.Second)
	h.Writes(1)
	assert.Zero(t, calls)
	h.Advance(5 * time.Second)
	assert.Equal(t, 1, calls)
}

// logging keeps the log of a test.
type logging struct {
	*testing.T
	lines strings.Builder
}

func (l *logging) Logf(format string, args ...any) { fmt.Fprintf(&l.lines, format+"\n", args...) }

func TestEventRefused(t *testing.T) {
	t.Run("handlers 86: what the cluster refuses is logged with the handler, and the others' is written", testEventRefused)
}

func testEventRefused(t *testing.T) {
	var j journal
	long := func(_ context.Context, r *handlers.Request[Claim]) error {
		r.Update(func(c *Claim) { c.Status.Volume = "too long" })
		return nil
	}
	short := func(_ context.Context, r *handlers.Request[Claim]) error {
		return r.Result(string(r.Event) + r.Reported.Reason)
	}
	c := handlers.New[Claim](claims)
	c.On(handlers.Create, "create", j.noting("create"))
	c.Seen("seen-long", long)
	c.Seen("seen-short", short)
	c.OnClusterEvent("reported-long", long)
	c.OnClusterEvent("reported-short", short)
	log := &logging{T: t}
	h := reconciletest.Drive(log, c, reconciletest.Memory(dryrun.Objects(object(t, strict))))
	h.Apply(small)
	h.Advance(0)
	h.Apply(reported("one", "kubelet", "Broken", h.Now().Add(time.Second)))
	h.Advance(0)
	assert.Equal(t, map[string]any{"seen-short": "MODIFIED", "reported-short": "Broken"}, h.Get("Claim small").Object["status"])
	assert.Equal(t, []string{"create create"}, j.taken())
	for _, id := range []string{"seen-long", "reported-long"} {
		assert.Regexp(t, `level=WARN msg="what a handler of an event has set can't be written" .*handler=`+id+` `, log.lines.String())
	}
	assert.NotContains(t, log.lines.String(), "-short")
}
