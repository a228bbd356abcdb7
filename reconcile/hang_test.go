package reconcile

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lines returns how many lines of the log say that the deletion hangs.
func (w *world) lines() int { return strings.Count(w.logs.String(), `msg="the deletion hangs"`) }

func TestDeletionHangs(t *testing.T) {
	t.Parallel()
	t.Run("hang 1: what Finalize waits for is in the status at once, and in the log and an event after a minute", func(t *testing.T) {
		t.Parallel()
		w, o := finalized(t, ours), &told{}
		w.delete(widgetRef)
		reason := "no disk"
		r := w.reconciler(&finalizing{finalize: func(context.Context, *Session) error { return request.Precondition("%s", reason) }}, Events(o))
		assert.Equal(t, []string{writeStatus}, w.calm(r))
		assert.Equal(t, "finalize: no disk", w.message())
		assert.Empty(t, o.texts(), "it may take a moment")
		assert.Zero(t, w.lines())
		for _, row := range []struct {
			why, reason string
			after       time.Duration
			event       string
		}{
			{"a minute is too long", "no disk", time.Minute, "Warning DeletionHangs: the deletion hangs: finalize: no disk"},
			{"which is said once", "no disk", time.Minute, ""},
			{"another reason is news", "no tape", time.Minute, "Warning DeletionHangs: the deletion hangs: finalize: no tape"},
			{"but not more than once a minute", "no tape: 1 of 2", 30 * time.Second, ""},
			{"the cluster forgets events", "no tape", 31 * time.Minute, "Warning DeletionHangs: the deletion hangs: finalize: no tape"},
		} {
			reason = row.reason
			w.clock.advance(row.after)
			w.calm(r)
			assert.Equal(t, row.event, strings.Join(o.texts(), "; "), row.why)
		}
		assert.Equal(t, 3, w.lines())
		assert.Contains(t, w.logs.String(), `level=WARN msg="the deletion hangs"`)
		assert.Contains(t, w.logs.String(), `since=1m2s reason="finalize: no disk"`)
	})
	t.Run("hang 1: so is a component of Finalize that isn't ready", func(t *testing.T) {
		t.Parallel()
		w, o := going(t), &told{}
		r := w.reconciler(goodbye(func(_ context.Context, s *Session) { s.Add("backup", deployment("backup")) }), Events(o))
		w.calm(r)
		assert.True(t, strings.HasPrefix(w.message(), "finalize: backup: Deployment backup: InProgress"), w.message())
		o.texts()
		w.clock.advance(time.Minute)
		assert.Empty(t, w.calm(r), "to report it costs no call but the event")
		assert.Equal(t, []string{"Warning DeletionHangs: the deletion hangs: " + w.message()}, o.texts())
	})
	t.Run("hang 2: finalizers of others are reported when they have delayed the deletion for a minute", func(t *testing.T) {
		t.Parallel()
		for why, c := range map[string]Controller{
			"with a Finalize": &finalizing{}, "without": adding(func(*Session) { assert.Fail(t, "it is set up") }),
		} {
			w, o := finalized(t, "example.dev/others", ours, "example.dev/last"), &told{}
			w.delete(widgetRef)
			r := w.reconciler(c, Events(o))
			calls, result, err := w.once(r)
			require.NoError(t, err, why)
			assert.Equal(t, []string{patchWidget}, calls, why)
			assert.InDelta(t, time.Minute, result.RequeueAfter, float64(2*time.Second), why)
			w.clock.advance(time.Minute)
			o.texts()
			assert.Equal(t, []string{writeStatus}, w.calm(r), why)
			want := "waiting for the finalizers of others: example.dev/others, example.dev/last"
			assert.Equal(t, want, w.message(), why)
			assert.Equal(t, []string{"Warning DeletionHangs: the deletion hangs: " + want}, o.texts(), why)
			assert.Equal(t, 1, w.lines(), why)
			calls, result, err = w.once(r)
			require.NoError(t, err, why)
			assert.Empty(t, calls, why)
			assert.Equal(t, time.Minute, result.RequeueAfter, why)
			assert.Equal(t, 1, w.lines(), why)
		}
	})
	t.Run("a deletion that fails is reported as every failure is", func(t *testing.T) {
		t.Parallel()
		w, o := finalized(t, ours), &told{}
		w.delete(widgetRef)
		r := w.reconciler(&finalizing{finalize: func(context.Context, *Session) error { return request.Configuration("no such disk") }}, Events(o))
		w.clock.advance(time.Minute)
		_, _, err := w.once(r)
		require.ErrorContains(t, err, "no such disk")
		assert.Equal(t, []string{"Warning Errored: finalize: no such disk"}, o.texts())
		assert.Zero(t, w.lines(), "the engine logs errors")
	})
	t.Run("a dry run reports nothing", func(t *testing.T) {
		t.Parallel()
		w := finalized(t, "example.dev/others")
		w.delete(widgetRef)
		w.clock.advance(time.Hour)
		assert.Empty(t, w.calm(w.reconciler(&finalizing{}, DryRun())))
		assert.Zero(t, w.lines())
	})
}
