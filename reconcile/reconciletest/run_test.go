package reconciletest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestRollout(t *testing.T) {
	t.Parallel()
	h := New(t, market())
	h.Apply(tea)
	h.RunUntilSettled()
	h.Created("Deployment tea-store", "ConfigMap tea-door", "Deployment.apps test/tea-store")
	h.Configured("Shop tea status")
	h.Writes(4)
	h.Ready("Shop tea")
	h.Exists("Shop tea", "Deployment tea-store")
	assert.Equal(t, Started.Add(10*time.Minute), h.Now(), "the period of a complete resource was followed once")

	h.RunUntilSettled()
	h.Writes(0)
	assert.Empty(t, h.Calls(), "operator 32: a settled resource costs no call")

	h.Edit("Shop tea", func(obj *unstructured.Unstructured) {
		require.NoError(t, unstructured.SetNestedField(obj.Object, "closed", "spec", "sign"))
	})
	h.RunUntilSettled()
	h.Configured("ConfigMap tea-door")
	h.Writes(2)

	h.Delete("ConfigMap tea-door")
	h.Gone("ConfigMap tea-door")
	h.RunUntilSettled()
	h.Created("ConfigMap tea-door")
	h.Writes(1)

	h.Delete("Shop tea")
	h.RunUntilSettled()
	h.Gone("Shop tea", "Deployment tea-store", "ConfigMap tea-door")
	h.Writes(0)
	require.Nil(t, h.Get("Shop tea"))
}

func TestOneReconcile(t *testing.T) {
	t.Parallel()
	t.Run("operator 34: reconciles are told with their times, attempts and calls", func(t *testing.T) {
		t.Parallel()
		h := New(t, market())
		h.Apply(tea)
		result, err := h.Reconcile("Shop tea")
		require.NoError(t, err)
		assert.Equal(t, time.Minute, result.RequeueAfter)
		h.Created("Deployment tea-store")
		h.Gone("ConfigMap tea-door")
		assert.Contains(t, h.Condition("Shop tea", "Updating").Message, "door waits for store")
		require.Len(t, h.Runs(), 1)
		run := h.Runs()[0]
		assert.Equal(t, "Shop test/tea", run.Key.String())
		assert.Equal(t, Started, run.At)
		var calls []string
		for _, call := range run.Calls {
			calls = append(calls, call.String())
		}
		assert.Equal(t, []string{"created Deployment test/tea-store", "configured Shop test/tea status"}, calls)
	})
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	t.Run("a failure is followed through its backoff until it heals", func(t *testing.T) {
		t.Parallel()
		h := New(t, market())
		h.Apply(tea)
		fault := h.Fail("store", Deploy, errors.New("boom")).Times(3)
		h.RunUntilSettled()
		h.Ready("Shop tea")
		assert.Equal(t, 3, fault.Met())
		assert.Equal(t, []string{"0s 0 boom", "250ms 1 boom", "750ms 2 boom", "1.75s 3"}, story(h)[:4])
	})
	t.Run("one that never heals settles too, with what it says in the status", func(t *testing.T) {
		t.Parallel()
		h := New(t, market())
		h.Apply(tea)
		h.Fail("store", Verify, errors.New("boom"))
		h.RunUntilSettled()
		h.Writes(2)
		assert.Contains(t, h.Condition("Shop tea", "Updating").Message, "boom")
		assert.Len(t, h.Runs(), 11, "ten after the one that changed something")
	})
	t.Run("a time that the error asks for, and one for good", func(t *testing.T) {
		t.Parallel()
		attempts := 0
		h := New(t, &shop{func(context.Context, *reconcile.Session) error {
			attempts++
			switch attempts {
			case 1:
				return request.RetryAfter(time.Hour, errors.New("later"))
			case 2:
				return request.Permanent(errors.New("never"))
			}
			return nil
		}})
		h.Apply(tea)
		h.RunUntilSettled()
		assert.Equal(t, []string{"0s 0 setup: later (again in 1h0m0s)", "1h0m0s 1 setup: never"}, story(h))
		h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"a": "b"}) })
		h.RunUntilSettled()
		h.Ready("Shop tea")
	})
	t.Run("who gets further each time doesn't wait the longer", func(t *testing.T) {
		t.Parallel()
		h := New(t, &shop{func(_ context.Context, s *reconcile.Session) error {
			before := s.Add("a", settings("a", nil))
			for _, name := range []string{"b", "c"} {
				next := s.Add(name, settings(name, nil))
				next.After(before)
				before = next
			}
			return nil
		}})
		h.Apply(tea)
		for _, component := range []string{"a", "b", "c"} {
			h.Fail(component, Deploy, errors.New("boom")).Times(1)
		}
		h.RunUntilSettled()
		assert.Equal(t, []string{"0s 0 boom", "250ms 1 boom", "250ms 1 boom", "250ms 1"}, story(h)[:4], "what was applied brings it, too")
		h.Ready("Shop tea")
	})
	t.Run("attempts are counted for MaxAttempts", func(t *testing.T) {
		t.Parallel()
		h := New(t, market(), With(reconcile.MaxAttempts(3)))
		h.Apply(tea)
		h.Fail("", Setup, errors.New("boom"))
		h.RunUntilSettled()
		assert.Len(t, h.Runs(), 3)
		assert.Contains(t, h.Condition("Shop tea", "Updating").Message, "given up after 3 attempts")
	})
}

// story is each reconcile by time, attempt, and error.
func story(h *Harness) (lines []string) {
	for _, run := range h.Runs() {
		line := fmt.Sprintf("%s %d", run.At.Sub(Started), run.Attempt)
		if run.Err != nil {
			text := run.Err.Error()
			if len(text) > 4 && text[len(text)-4:] == "boom" {
				text = "boom"
			}
			line += " " + text
		}
		lines = append(lines, line)
	}
	return lines
}

// pacing asks to be reconciled again after a minute.
type pacing struct{ *shop }

func (pacing) Requeue(context.Context, *reconcile.Session, reconcile.Outcome) (time.Duration, error) {
	return time.Minute, nil
}

func TestTimeTravel(t *testing.T) {
	t.Parallel()
	var at []time.Duration
	var h *Harness
	h = New(t, pacing{&shop{func(_ context.Context, s *reconcile.Session) error {
		at = append(at, h.Now().Sub(Started))
		if h.Now().Sub(Started) >= 3*time.Minute {
			s.Add("late", settings("late", nil))
		}
		return nil
	}}})
	h.Apply(tea)
	h.RunUntilSettled()
	h.Gone("ConfigMap late")
	h.Advance(150 * time.Second)
	h.Created("ConfigMap late")
	assert.Equal(t, 3*time.Minute+30*time.Second, h.Now().Sub(Started))
	assert.Equal(t, []time.Duration{0, time.Minute, 2 * time.Minute, 3 * time.Minute}, at, "and not for its own ConfigMap")
	h.Advance(24 * time.Hour)
	h.Writes(0)
	h.Advance(0)
	assert.Len(t, at, 4+24*60)
}

func TestRestart(t *testing.T) {
	t.Parallel()
	h := New(t, market())
	h.Apply(tea)
	h.RunUntilSettled()
	before := len(h.Runs())
	h.Restart()
	h.RunUntilSettled()
	h.Writes(0)
	assert.Greater(t, len(h.Runs()), before)
	h.Memory()
	h.Delete("ConfigMap tea-door")
	h.RunUntilSettled()
	h.Created("ConfigMap tea-door")
}

func TestParentAndChild(t *testing.T) {
	t.Parallel()
	streets := shops
	streets.Kind = "Street"
	parent := Controlling(streets, func(_ context.Context, s *reconcile.Session) error {
		s.Add("tea", tea)
		return nil
	})
	h := New(t, parent, Also(market()))
	h.Apply(Resource(streets, "main", nil))
	said := try(t, func(trial *trial) {
		h := New(trial, parent, Also(market()))
		h.Apply(Resource(streets, "main", nil))
		h.RunUntilSettled()
		h.Ready("Street main")
	})
	assert.Contains(t, said, "isn't ready", "text is no object for a Session")

	parent.(*controlling).setup = func(_ context.Context, s *reconcile.Session) error {
		s.Add("tea", Resource(shops, "tea", map[string]any{"sign": "open", "size": 3}))
		return nil
	}
	h.RunUntilSettled()
	h.Ready("Street main", "Shop tea")
	h.Created("Shop tea", "ConfigMap tea-door")
	h.Delete("Street main")
	h.RunUntilSettled()
	h.Gone("Street main", "Shop tea", "Deployment tea-store")
}

func TestFinalize(t *testing.T) {
	t.Parallel()
	c := &closing{market(), func(ctx context.Context, s *reconcile.Session) error {
		return s.Remove(ctx, settings("tea-door", nil))
	}}
	h := New(t, c)
	h.Apply(tea)
	h.RunUntilSettled()
	fault := h.FailOnce("door", Finalize, errors.New("stuck"))
	h.Delete("Shop tea")
	h.RunUntilSettled()
	h.Deleted("ConfigMap tea-door")
	h.Configured("Shop tea")
	h.Gone("Shop tea", "ConfigMap tea-door", "Deployment tea-store")
	assert.Equal(t, 1, fault.Met())
}

func TestWhatBringsAResource(t *testing.T) {
	t.Parallel()
	t.Run("a new spec starts the backoff anew, a label doesn't", func(t *testing.T) {
		t.Parallel()
		h := New(t, market())
		h.Apply(tea)
		h.Fail("store", Deploy, errors.New("boom"))
		h.Advance(time.Second)
		attempts := func() int { return h.Runs()[len(h.Runs())-1].Attempt }
		require.Equal(t, 2, attempts())
		h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"a": "b"}) })
		h.Advance(0)
		assert.Equal(t, 3, attempts())
		h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.Object["spec"] = map[string]any{"sign": "new"} })
		h.Advance(0)
		assert.Equal(t, 0, attempts())
	})
	t.Run("the end of an object of an earlier owner, whose name is free now", func(t *testing.T) {
		t.Parallel()
		old := &unstructured.Unstructured{Object: settings("tea-door", map[string]any{})}
		old.SetNamespace("test")
		old.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "example.dev/v1", Kind: "Shop", Name: "tea", UID: "earlier"}})
		h := New(t, market(), Memory(dryrun.Objects(old)))
		h.Apply(tea)
		h.RunUntilSettled()
		assert.Equal(t, "ClusterError", h.Condition("Shop tea", "Updating").Reason)
		h.Delete("ConfigMap tea-door")
		h.Advance(0)
		h.Created("ConfigMap tea-door")
	})
}

func TestUnownedChangesBringNothing(t *testing.T) {
	t.Parallel()
	h := New(t, market())
	h.Apply(tea, settings("foreign", nil))
	h.RunUntilSettled()
	before := len(h.Runs())
	h.Edit("ConfigMap foreign", func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"a": "b"}) })
	_, _ = h.Reconcile("Shop tea")
	assert.Len(t, h.Runs(), before+1)
	h.SetStatus("Shop tea", map[string]any{"note": "mine"})
	h.Advance(0)
	assert.Len(t, h.Runs(), before+1, "a status is no reason to reconcile")
	h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.SetAnnotations(map[string]string{"a": "b"}) })
	h.Advance(0)
	assert.Len(t, h.Runs(), before+2)
}

func TestRequestsThatFail(t *testing.T) {
	t.Parallel()
	t.Run("operator 32: an answer such as 403 is injected", func(t *testing.T) {
		t.Parallel()
		h := New(t, market())
		h.Apply(tea)
		require.NoError(t, h.Memory().Fail(dryrun.Fault{Verb: dryrun.VerbApply, Name: "tea-door", Count: 1, Code: 403}))
		h.RunUntilSettled()
		h.Ready("Shop tea")
		var failed []string
		for _, call := range h.Calls() {
			if call.Action == deploy.Failed {
				failed = append(failed, call.String())
				assert.True(t, call.Write())
			}
		}
		require.Len(t, failed, 1)
		assert.Contains(t, failed[0], "failed ConfigMap test/tea-door: ")
	})
}
