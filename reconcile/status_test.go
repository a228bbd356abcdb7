package reconcile

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestStatusWrites(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 53: one for each change, none without", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(adding(func(s *Session) { s.Add("web", configMap("c")).After(s.Add("db", deployment("d")), Ready) }))
		for _, row := range []struct {
			reason string
			change func()
			want   int
		}{
			{"the first", func() {}, 1},
			{"nothing new", func() {}, 0},
			{"db becomes ready and web is deployed", func() { w.makeReady("d") }, 1},
			{"nothing new", func() {}, 0},
			{"somebody spoils it", func() { w.mergeStatus(widgetRef, `{"status":{"conditions":[]}}`) }, 1},
			{"somebody adds to it", func() { w.mergeStatus(widgetRef, `{"status":{"theirs":"x"}}`) }, 0},
		} {
			row.change()
			calls := w.calm(r)
			assert.Equal(t, row.want, count(calls, writeStatus), row.reason)
			assert.Zero(t, count(calls, "get Widget shop/w"), row.reason)
		}
	})
	t.Run("a resource that was replaced meanwhile isn't told of its predecessor", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(&controller{func(ctx context.Context, _ *Session) error {
			w.delete(widgetRef)
			successor := widget()
			successor.SetUID("")
			_, err := w.memory.Port().Apply(ctx, successor, deploy.ApplyOptions{FieldManager: "somebody"})
			return err
		}})
		assert.Empty(t, w.calm(r))
		assert.NotContains(t, w.widget().Object, "status")
	})
	t.Run("a resource that went meanwhile is no failure", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(adding(func(*Session) { w.delete(widgetRef) }))
		assert.Empty(t, w.calm(r))
		assert.Empty(t, w.logs.String())
	})
	t.Run("a status that others write at the same time loses nothing", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		meddled := false
		w.refuse = func(call string) error {
			if call == writeStatus && !meddled {
				meddled = true
				w.mergeStatus(widgetRef, `{"status":{"theirs":"x"}}`)
			}
			return nil
		}
		assert.Equal(t, []string{writeStatus, "get Widget shop/w", writeStatus}, w.calm(w.reconciler(adding(func(*Session) {}))),
			"read again, and written on top of theirs")
		assert.Equal(t, "Stable/Stable", w.verdict())
		assert.Equal(t, "x", w.widget().Object["status"].(map[string]any)["theirs"])
	})
	t.Run("a status that can't be written for good is logged, with what to do", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.refuse = refusing(&deploy.NotFoundError{Ref: widgetRef}, writeStatus)
		_, result, err := w.once(w.reconciler(adding(func(*Session) {})))
		require.NoError(t, err)
		assert.Equal(t, request.Result{RequeueAfter: 10 * time.Minute}, result, "soon wouldn't help")
		assert.Contains(t, w.logs.String(), "no status subresource")
	})
	t.Run("one that somebody keeps changing is tried again soon", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.refuse = refusing(&deploy.StaleError{Ref: widgetRef, Err: errors.New("changed")}, writeStatus)
		_, _, err := w.once(w.reconciler(adding(func(*Session) {})))
		assert.EqualError(t, err, "status not written: Widget shop/w: changed since it was read: changed")
		assert.True(t, request.Resolve(err).Quiet, "by the engine's backoff, and not worth a line")
	})
	t.Run("one that may not be written now, as after the start of an API server, is tried again soon", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.refuse = refusing(&deploy.ForbiddenError{Verb: "patch", Err: errors.New("no")}, writeStatus)
		_, _, err := w.once(w.reconciler(adding(func(*Session) {})))
		require.ErrorContains(t, err, "status not written: ")
		assert.True(t, request.Resolve(err).Quiet, "by the engine's backoff, which says it if it lasts")
		_, timed := request.RetryTime(err)
		assert.False(t, timed)
	})
	t.Run("one that the cluster has no time for now is tried again when it says", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.refuse = refusing(&deploy.UnavailableError{RetryAfter: 7 * time.Second, Err: errors.New("too many requests")}, writeStatus)
		_, _, err := w.once(w.reconciler(adding(func(*Session) {})))
		require.ErrorContains(t, err, "status not written: ")
		after, _ := request.RetryTime(err)
		assert.Equal(t, 7*time.Second, after)
	})
}

func TestStatusThatTheSchemaDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		drops  []string
		field  string
	}{
		{"a field at the top", []string{"componentStatus"}, ".componentStatus"},
		{"a field below it", []string{"componentStatus", "verifiedComponents"}, ".componentStatus.verifiedComponents"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.drops = row.drops
			r := w.reconciler(adding(func(s *Session) { s.Add("c", configMap("c")); s.Add("d", deployment("d")) }))
			w.calm(r)
			assert.Equal(t, 1, w.logs.Count("drops fields of the status: add these fields to its schema"))
			assert.Equal(t, 1, w.logs.Count("fields="+row.field))
			for range 10 {
				assert.Empty(t, w.calm(r), "what is dropped isn't written again")
			}
			w.makeReady("d")
			assert.Equal(t, []string{writeStatus}, w.calm(r), "the rest is")
			assert.Equal(t, "Stable/Stable", w.verdict())
			for range 2 {
				w.clock.advance(lifecycle.SentAgain)
				assert.Equal(t, []string{writeStatus}, w.calm(r), "the schema may have been mended")
				assert.Empty(t, w.calm(r))
			}
			assert.Equal(t, 1, w.logs.Count("drops fields of the status"), "it is said once")
			w.drops = nil
			w.clock.advance(lifecycle.SentAgain)
			assert.Equal(t, []string{writeStatus}, w.calm(r))
			assert.Equal(t, []any{"c", "d"}, w.status("componentStatus", "verifiedComponents"), "it is there then, without a restart")
			w.clock.advance(lifecycle.SentAgain)
			assert.Empty(t, w.calm(r))
		})
	}
}

func TestClassOf(t *testing.T) {
	t.Parallel()
	unknown := errors.New("weird")
	for _, row := range []struct {
		reason string
		err    error
		want   status.ErrorClass
	}{
		{"none", nil, ""},
		{"an unknown one", unknown, status.ErrorUnknown},
		{"a wrapped one", &deploy.ForbiddenError{Err: request.Precondition("x")}, status.ErrorCluster},
		{"an unknown one in ours takes our class", request.Precondition("x: %w", unknown), status.ErrorPrecondition},
		{"mistake 3: of joined ones the most severe, whatever the order", errors.Join(request.Precondition("x"), unknown), status.ErrorUnknown},
		{"mistake 3: and the other way round", errors.Join(unknown, request.Precondition("x")), status.ErrorUnknown},
		{"mistake 3: deeper", request.Permanent(errors.Join(request.Precondition("x"), request.Permanent(&deploy.InvalidError{Err: unknown}))), status.ErrorConfig},
		{"one that wraps nothing", wrapsNothing{}, status.ErrorUnknown},
	} {
		assert.Equal(t, row.want, request.ClassOf(row.err), row.reason)
	}
	for _, err := range []error{
		&deploy.KindUnknownError{}, &deploy.NotFoundError{}, &deploy.ForbiddenError{}, &deploy.ConflictError{},
		&deploy.StaleError{}, &deploy.UnavailableError{}, &deploy.OwnedError{},
	} {
		assert.Equal(t, status.ErrorCluster, request.ClassOf(err), "status 14: %T", err)
	}
	assert.Equal(t, "x: weird", request.Configuration("x: %w", unknown).Error())
	assert.ErrorIs(t, request.Configuration("x: %w", unknown), unknown)
}

type wrapsNothing struct{}

func (wrapsNothing) Error() string { return "nothing" }
func (wrapsNothing) Unwrap() error { return nil }

// What the schema drops is found out also when nothing else is new, as after the upgrade of an operator whose
// definition wasn't upgraded along: one write in the life of a process, not one with every reconcile.
func TestDroppedAloneIsLearned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.drops = []string{"componentStatus", "kinds"}
	setup := adding(func(s *Session) { s.Add("c", configMap("a")) })
	w.calm(w.reconciler(setup))
	restarted := w.reconciler(setup)
	assert.Equal(t, []string{writeStatus}, w.calm(restarted))
	for range 3 {
		assert.Empty(t, w.calm(restarted))
	}
}

func TestDependencyGraph(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 49: only when asked for", func(t *testing.T) {
		t.Parallel()
		setup := adding(func(s *Session) { s.Add("web").After(s.Add("db")) })
		w := newWorld(t)
		w.calm(w.reconciler(setup))
		assert.NotContains(t, w.status("componentStatus"), "dependencyGraph")
		w.calm(w.reconciler(setup, Status(DependencyGraph)))
		assert.Equal(t, "Graph({web:[db],db:[]})", w.status("componentStatus", "dependencyGraph"))
	})
}

// shown keeps how the objects of a View looked when they were first seen: they are shared, and whoever
// changes one changes what others read.
type shown struct {
	mu     sync.Mutex
	copies map[*unstructured.Unstructured]*unstructured.Unstructured
}

// newShown checks at the end of the test that none was changed.
func newShown(t testing.TB) *shown {
	s := &shown{copies: map[*unstructured.Unstructured]*unstructured.Unstructured{}}
	t.Cleanup(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for obj, copied := range s.copies {
			assert.Equal(t, copied, obj, "an object of the View was changed")
		}
	})
	return s
}

func (s *shown) saw(obj *unstructured.Unstructured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.copies[obj]; !known && obj != nil {
		s.copies[obj] = obj.DeepCopy()
	}
}
