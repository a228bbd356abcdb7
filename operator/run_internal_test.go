package operator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var errEngine = errors.New("out of steam")

func TestServices(t *testing.T) {
	t.Parallel()
	t.Run("watch 2: all are started and waited for", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var started, ended []string
			named := func(name string, windup time.Duration) service {
				return service{name, func(ctx context.Context) error {
					mu.Lock()
					started = append(started, name)
					mu.Unlock()
					<-ctx.Done()
					time.Sleep(windup)
					mu.Lock()
					defer mu.Unlock()
					ended = append(ended, name)
					return nil
				}}
			}
			given := []service{named("c", 2*time.Second), named("a", 3*time.Second), named("b", time.Second)}
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			require.NoError(t, runAll(ctx, given))
			assert.ElementsMatch(t, []string{"a", "b", "c"}, started)
			assert.Equal(t, []string{"b", "c", "a"}, ended)
		})
	})
	t.Run("watch 2: the failure of one ends the others, and is told", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ended := false
			err := runAll(t.Context(), []service{
				{"others", func(ctx context.Context) error { <-ctx.Done(); ended = true; return nil }},
				{"first", func(context.Context) error { time.Sleep(time.Minute); return errEngine }},
			})
			require.ErrorIs(t, err, errEngine)
			assert.EqualError(t, err, "first: out of steam")
			assert.True(t, ended)
		})
	})
	t.Run("watch 2: what fails while the others end is told too", func(t *testing.T) {
		t.Parallel()
		err := runAll(t.Context(), []service{
			{"a", func(context.Context) error { time.Sleep(10 * time.Millisecond); return errEngine }},
			{"b", func(ctx context.Context) error { <-ctx.Done(); return errors.New("doesn't close") }},
		})
		assert.EqualError(t, err, "a: out of steam\nb: doesn't close")
	})
	t.Run("watch 2: nothing is started any more after an end", func(t *testing.T) {
		t.Parallel()
		ctx, stop := context.WithCancel(t.Context())
		stop()
		require.NoError(t, runAll(ctx, []service{{"a", func(context.Context) error { assert.Fail(t, "started"); return nil }}}))
	})
}

// newLock is a lock on a cluster in memory, and how somebody takes it away by force.
func newLock(t *testing.T) (lock *leader.Elector, steal func()) {
	t.Helper()
	cluster, err := dryrun.New(dryrun.Namespaces("*"))
	require.NoError(t, err)
	lock, err = leader.Lease(cluster.Port(), "shop/op")
	require.NoError(t, err)
	return lock, func() {
		ref := deploy.Ref{Kind: schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}, Namespace: "shop", Name: "op"}
		lease, err := cluster.Port().Get(t.Context(), ref)
		require.NoError(t, err)
		lease.Object["spec"].(map[string]any)["holderIdentity"] = "thief"
		_, err = cluster.Port().Update(t.Context(), lease, deploy.UpdateOptions{FieldManager: "test"})
		require.NoError(t, err)
	}
}

func TestUntilLost(t *testing.T) {
	t.Parallel()
	t.Run("watch mistake 15: work that doesn't notice the loss is given up after a while", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			lock, steal := newLock(t)
			release := make(chan struct{})
			var log bytes.Buffer
			err := lock.Run(t.Context(), func(ctx context.Context) error {
				steal()
				return untilLost(ctx, slog.New(slog.NewTextHandler(&log, nil)), func(context.Context) error { <-release; return nil })
			})
			assert.EqualError(t, err, "Lease shop/op: leadership lost: thief leads")
			assert.Contains(t, log.String(), "the leadership is lost, but reconciles don't end")
			close(release)
		})
	})
	t.Run("watch mistake 6: work that notices it is waited for", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			lock, steal := newLock(t)
			ended := false
			err := lock.Run(t.Context(), func(ctx context.Context) error {
				steal()
				return untilLost(ctx, slog.Default(), func(ctx context.Context) error {
					term, _ := leader.TermOf(ctx)
					<-term.Lost
					time.Sleep(lossPatience - 1)
					ended = true
					return nil
				})
			})
			require.ErrorIs(t, err, leader.ErrLost)
			assert.True(t, ended)
		})
	})
	t.Run("its own end is its end", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			lock, _ := newLock(t)
			work := func(context.Context) error { return errEngine }
			assert.Equal(t, errEngine, lock.Run(t.Context(), func(ctx context.Context) error { return untilLost(ctx, slog.Default(), work) }))
		})
	})
	t.Run("watch 36: without a lock nothing is lost", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, errEngine, untilLost(t.Context(), slog.Default(), func(ctx context.Context) error {
			term, _ := leader.TermOf(ctx)
			assert.Nil(t, term.Lost)
			return errEngine
		}))
	})
}

func TestSteps(t *testing.T) {
	t.Parallel()
	var log []string
	begins := func(name string) { log = append(log, "begin "+name) }
	named := func(name string, inTerm bool, err error) step {
		return step{name: name, inTerm: inTerm, start: func(ctx context.Context) (func(), error) {
			log = append(log, "start "+name)
			return func() { log = append(log, fmt.Sprintf("stop %s: %v", name, context.Cause(ctx))) }, err
		}}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var started steps
	require.NoError(t, started.start(ctx, begins, named("a", false, nil), named("b", true, nil), named("c", false, nil)))
	require.ErrorIs(t, started.start(ctx, begins, named("d", false, errEngine), named("e", false, nil)), errEngine)
	cancel() // the steps outlive it
	started.stop(true, errEngine)
	started.stop(false, errors.New("a signal"))
	started.stop(false, errEngine)
	assert.Equal(t, []string{
		"begin a", "start a", "begin b", "start b", "begin c", "start c", "begin d", "start d",
		"stop b: out of steam", "stop c: a signal", "stop a: a signal",
	}, log)
}
