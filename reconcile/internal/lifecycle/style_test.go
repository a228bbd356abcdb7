package lifecycle_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var (
	shops = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Shop"}
	tea   = deploy.Ref{Kind: shops, Namespace: "market", Name: "tea"}
)

const finalizer = "example.dev/style"

// style is a reconciler without sessions: a function for a resource, and one for its deletion.
type style struct {
	lifecycle.Lifecycle
	work, cleanup func(resource *unstructured.Unstructured) error
}

func (s *style) Reconcile(ctx context.Context, req request.Request) (result request.Result, err error) {
	resource, rest, err := s.Begin(ctx, req)
	if resource == nil {
		return rest, err
	}
	defer func() { s.Conclude(ctx, resource, true, err) }()
	log := s.LoggerFor(resource)
	if resource.GetDeletionTimestamp() != nil {
		if err = s.cleanup(resource); err == nil {
			return result, s.RemoveFinalizer(ctx, resource, finalizer)
		}
	} else if err = s.AddFinalizer(ctx, resource, finalizer); err == nil {
		err = s.work(resource)
	}
	_, written := s.Report(ctx, resource, log, nil, true, func(present map[string]any) (map[string]any, bool, error) {
		a := status.Application{Generation: resource.GetGeneration()}
		if a.Ready, a.Updating = status.ForEnd(present, true); err != nil {
			a.Ready, a.Updating = status.ForError(request.ClassOf(err), err.Error())
		}
		return a.Update(s.Now(), present)
	})
	if err == nil && written != nil {
		err = lifecycle.Unwritten(log, written)
	}
	return result, err
}

// counting counts the calls of a Port that write.
type counting struct {
	deploy.Port
	writes int
}

func (c *counting) Patch(ctx context.Context, ref deploy.Ref, req deploy.PatchRequest) (*unstructured.Unstructured, error) {
	c.writes++
	return c.Port.Patch(ctx, ref, req)
}

// street is a cluster with one shop and its reconciler.
type street struct {
	*style
	t      *testing.T
	memory *dryrun.Cluster
	port   *counting
	logs   *testlog.Text
}

func (s *street) Port() deploy.Port { return s.port }
func (s *street) View() deploy.View { return s.memory.View() }

func newStreet(t *testing.T) *street {
	t.Helper()
	shop := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"tea": "green"}}}
	shop.SetGroupVersionKind(shops)
	shop.SetNamespace("market")
	shop.SetName("tea")
	memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(shop))
	require.NoError(t, err)
	s := &street{t: t, memory: memory, port: &counting{Port: memory.Port()}, logs: &testlog.Text{}}
	manager, err := deploy.NewManager(s)
	require.NoError(t, err)
	nothing := func(*unstructured.Unstructured) error { return nil }
	s.style = &style{lifecycle.Lifecycle{
		Kind: shops, Manager: manager, Logger: slog.New(slog.NewTextHandler(s.logs, nil)), Recheck: time.Minute,
		Now: func() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) },
	}, nothing, nothing}
	return s
}

// once reconciles the shop and returns the number of writes.
func (s *street) once() (writes int, result request.Result, err error) {
	s.t.Helper()
	before := s.port.writes
	result, err = s.Reconcile(s.t.Context(), request.Request{Key: tea})
	return s.port.writes - before, result, err
}

func (s *street) merge(body string) {
	s.t.Helper()
	_, err := s.memory.Port().Patch(s.t.Context(), tea, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(body), FieldManager: "somebody"})
	require.NoError(s.t, err)
}

func (s *street) shop() *unstructured.Unstructured {
	s.t.Helper()
	shop, err := s.memory.Port().Get(s.t.Context(), tea)
	require.NoError(s.t, err)
	return shop
}

func (s *street) condition(conditionType string) metav1.Condition {
	s.t.Helper()
	condition, _ := status.Conditions(s.shop()).Get(conditionType)
	return condition
}

// stands asserts how the shop is counted.
func (s *street) stands(how standing.Standing) {
	s.t.Helper()
	assert.Equal(s.t, standing.Tally{Resources: map[standing.Standing]int{how: 1}, Versions: map[string]int{}}, s.Tally())
}

func TestStyleWithoutSessions(t *testing.T) {
	t.Parallel()
	t.Run("it settles", func(t *testing.T) {
		t.Parallel()
		s := newStreet(t)
		writes, _, err := s.once()
		require.NoError(t, err)
		assert.Equal(t, 2, writes, "the finalizer and the status")
		assert.Equal(t, []string{finalizer}, s.shop().GetFinalizers())
		assert.Equal(t, "Stable", s.condition(status.ConditionReady).Reason)
		s.stands(standing.Settled)
		writes, _, err = s.once()
		require.NoError(t, err)
		assert.Zero(t, writes)
	})
	t.Run("an error is a condition", func(t *testing.T) {
		t.Parallel()
		s := newStreet(t)
		s.work = func(*unstructured.Unstructured) error { return request.Configuration("spec.tea: no such tea") }
		_, _, err := s.once()
		require.EqualError(t, err, "spec.tea: no such tea")
		assert.Equal(t, "ConfigError", s.condition(status.ConditionReady).Reason)
		assert.Equal(t, "spec.tea: no such tea", s.condition(status.ConditionUpdating).Message)
		s.stands(standing.Failing)
		s.work = func(*unstructured.Unstructured) error { return request.Permanent(errors.New("no tea at all")) }
		_, _, err = s.once()
		require.Error(t, err)
		s.stands(standing.Refused)
		s.work = func(*unstructured.Unstructured) error {
			return &request.Error{Quiet: true, Err: errors.New("somebody was faster")}
		}
		_, _, err = s.once()
		require.Error(t, err)
		s.stands(standing.Refused)
		s.work = func(*unstructured.Unstructured) error { return request.Precondition("no water yet") }
		_, _, err = s.once()
		require.Error(t, err)
		s.stands(standing.Waiting)
	})
	t.Run("a pause", func(t *testing.T) {
		t.Parallel()
		s := newStreet(t)
		s.merge(`{"metadata":{"annotations":{"operkit.dev/pause-execution":"true"}}}`)
		s.work = func(*unstructured.Unstructured) error { return errors.New("it works") }
		writes, _, err := s.once()
		require.NoError(t, err)
		assert.Equal(t, 1, writes)
		assert.Equal(t, lifecycle.ReasonPaused, s.condition(lifecycle.ConditionPaused).Reason)
		s.stands(standing.Paused)
		writes, _, _ = s.once()
		assert.Zero(t, writes)
		s.merge(`{"metadata":{"annotations":{"operkit.dev/pause-execution":null}}}`)
		_, _, err = s.once()
		require.EqualError(t, err, "it works")
		assert.Empty(t, s.condition(lifecycle.ConditionPaused))
	})
	t.Run("a deletion", func(t *testing.T) {
		t.Parallel()
		s := newStreet(t)
		_, _, err := s.once()
		require.NoError(t, err)
		require.NoError(t, s.memory.Port().Delete(t.Context(), tea, deploy.DeleteOptions{}))
		s.cleanup = func(*unstructured.Unstructured) error { return request.Precondition("guests are there") }
		_, _, err = s.once()
		require.Error(t, err)
		assert.Equal(t, "guests are there", s.condition(status.ConditionUpdating).Message)
		s.stands(standing.Deleting)
		s.cleanup = func(*unstructured.Unstructured) error { return nil }
		_, _, err = s.once()
		require.NoError(t, err)
		assert.Nil(t, s.shop())
		_, _, err = s.once()
		require.NoError(t, err)
		assert.Zero(t, s.Memory.Len(), "nothing is remembered of a resource that is gone")
		assert.Empty(t, s.Tally().Resources)
	})
	t.Run("what isn't counted", func(t *testing.T) {
		t.Parallel()
		s := newStreet(t)
		ctx, stop := context.WithCancel(t.Context())
		s.work = func(*unstructured.Unstructured) error { stop(); return ctx.Err() }
		_, err := s.Reconcile(ctx, request.Request{Key: tea})
		require.ErrorIs(t, err, context.Canceled)
		assert.Empty(t, s.Tally(), "a reconcile that was interrupted")
		_, _, err = s.once()
		require.Error(t, err)
		s.stands(standing.Failing)
		s.Forget(tea)
		assert.Empty(t, s.Tally().Resources, "a resource that has left the view")
		s.DryRun = true
		_, _, err = s.once()
		require.Error(t, err)
		assert.Empty(t, s.Tally().Resources, "a dry run")
	})
	t.Run("another kind", func(t *testing.T) {
		t.Parallel()
		_, err := newStreet(t).Reconcile(t.Context(), request.Request{Key: deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Name: "tea"}})
		assert.True(t, request.IsPermanent(err))
		assert.ErrorContains(t, err, "names no resource of kind Shop")
	})
}
