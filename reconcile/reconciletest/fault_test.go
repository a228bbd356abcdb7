package reconciletest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFail(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for _, row := range []struct {
		reason    string
		component string
		phase     Phase
		err       error
		ready     string
		updating  string
		message   string
		calls     []string
	}{
		{"nothing of a component that fails is applied", "store", Deploy, boom, "Errored", "Errored", "component store: ", []string{"configured Shop test/tea status"}},
		{"what comes before an object that fails is", "store.deployment/tea-store", Deploy, boom, "Errored", "Errored", "boom",
			[]string{"created ConfigMap test/tea-keys", "configured Shop test/tea status"}},
		{"a class stays what it is: to wait", "store", Deploy, request.Precondition("not yet"), "Initializing", "PreconditionWait", "not yet", []string{"configured Shop test/tea status"}},
		{"a class stays what it is: the cluster", "store", Deploy, &deploy.ForbiddenError{Verb: "patch", Err: boom}, "Initializing", "ClusterError", "component store: ", []string{"configured Shop test/tea status"}},
		{"verifying fails after all was applied", "store", Verify, boom, "Errored", "Errored", "component store: boom",
			[]string{"created ConfigMap test/tea-keys", "created Deployment test/tea-store", "configured Shop test/tea status"}},
		{"one that waits doesn't fail its component", "store", Verify, request.Precondition("not yet"), "Initializing", "VerifyWait", "store: not yet",
			[]string{"created ConfigMap test/tea-keys", "created Deployment test/tea-store", "configured Shop test/tea status"}},
		{"Setup is nobody's", "", Setup, request.Configuration("bad spec"), "ConfigError", "Errored", "setup: bad spec", []string{"configured Shop test/tea status"}},
	} {
		t.Run("operator 31: "+row.reason, func(t *testing.T) {
			t.Parallel()
			h := New(t, &shop{func(_ context.Context, s *reconcile.Session) error {
				s.Add("store", settings("tea-keys", nil), workload("Deployment", "tea-store"))
				return nil
			}})
			h.Apply(tea)
			fault := h.Fail(row.component, row.phase, row.err)
			_, err := h.Reconcile("Shop tea")
			if strings.HasSuffix(row.updating, "Wait") {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, row.err)
			}
			ready, updating := h.Condition("Shop tea", "Ready"), h.Condition("Shop tea", "Updating")
			assert.Equal(t, row.ready, ready.Reason)
			assert.Equal(t, row.updating, updating.Reason)
			assert.Contains(t, updating.Message, row.message)
			assert.Equal(t, row.calls, lines(h.Calls()))
			fault.Heal()
			h.RunUntilSettled()
			h.Ready("Shop tea")
			assert.Equal(t, 1, fault.Met())
		})
	}
}

func lines(calls []Call) (lines []string) {
	for _, call := range calls {
		lines = append(lines, call.String())
	}
	return lines
}

func TestFailCounts(t *testing.T) {
	t.Parallel()
	h := New(t, market())
	h.Apply(tea)
	fault := h.FailOnce("door", Deploy, errors.New("boom")).After(2)
	h.RunUntilSettled()
	h.Ready("Shop tea")
	assert.Equal(t, 1, fault.Met(), "operator 31: on the nth time only")
	later := h.FailOnce("store", Verify, errors.New("later")).After(3)
	h.RunUntilSettled()
	assert.Equal(t, 1, later.Met(), "it is waited for, though nothing else happens")
	h.Fail("door", Deploy, errors.New("again"))
	_, err := h.Reconcile("Shop tea")
	require.ErrorContains(t, err, "again", "also when there is nothing to apply")
	h.Writes(1)
}

func TestFailOfAComponentThatIsTakenAway(t *testing.T) {
	t.Parallel()
	for reason, takeAway := range map[string]func(s *reconcile.Session){
		"operator 31: one that is disabled":          func(s *reconcile.Session) { s.Add("door", settings("door", nil)).Disable() },
		"operator 31: one that isn't there any more": func(*reconcile.Session) {},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			away := false
			h := New(t, &shop{func(ctx context.Context, s *reconcile.Session) error {
				if !away {
					s.Add("door", settings("door", nil))
					return nil
				}
				takeAway(s)
				_, err := s.Get(ctx, reconcileRef("ConfigMap", s.Namespace(), "door"))
				return err
			}})
			h.Apply(tea)
			h.RunUntilSettled()
			away = true
			h.FailOnce("door", Deploy, errors.New("boom"))
			_, err := h.Reconcile("Shop tea")
			require.ErrorContains(t, err, "boom")
			assert.NotContains(t, err.Error(), "setup", "to look at it is no phase of it")
			h.Exists("ConfigMap door")
			h.RunUntilSettled()
			h.Deleted("ConfigMap door")
			h.Gone("ConfigMap door")
		})
	}
}

func TestFailOfAnObjectThatIsGivenUp(t *testing.T) {
	t.Parallel()
	window := true
	h := New(t, &shop{func(_ context.Context, s *reconcile.Session) error {
		house := s.Add("house", settings("door", nil))
		if window {
			house.Add("", settings("window", nil))
		}
		return nil
	}})
	h.Apply(tea)
	h.RunUntilSettled()
	boom := h.FailOnce("house.configmap/window", Deploy, errors.New("boom"))
	window = false
	h.RunUntilSettled()
	h.Deleted("ConfigMap window")
	assert.Zero(t, boom.Met(), "its component is deployed: this comes after it")
	window = true
	_, err := h.Reconcile("Shop tea")
	require.ErrorContains(t, err, "boom")
}

type countingPatcher struct{ asked *int }

func (p countingPatcher) Patches(context.Context, patching.Target) ([]patching.Patch, error) {
	*p.asked++
	return nil, nil
}

func TestFailSaysWhenItCannot(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for _, row := range []struct {
		reason string
		test   func(t *trial)
		says   string
	}{
		{"an error that never happened", func(t *trial) {
			h := New(t, market())
			h.Apply(tea)
			h.Fail("cellar", Deploy, boom)
			h.RunUntilSettled()
		}, `fail "cellar" in deploy: this never happened; the components were: door.configmap/tea-door, store.deployment/tea-store`},
		{"no error", func(t *trial) { New(t, market()).Fail("store", Deploy, nil) }, "nil error"},
		{"no component", func(t *trial) { New(t, market()).Fail("", Verify, boom) }, "the component has no name"},
		{"no phase", func(t *trial) { New(t, market()).Fail("store", "dream", boom) }, "unknown phase"},
		{"a component in a phase of none", func(t *trial) { New(t, market()).Fail("store", Setup, boom) }, "this phase has no component"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			assert.Contains(t, try(t, row.test), row.says)
		})
	}
}

func TestFailBesideOptionsOfTheTest(t *testing.T) {
	t.Parallel()
	asked, deployed := 0, 0
	observe := func(*reconcile.Component, deploy.Results) { deployed++ }
	h := New(t, market(), With(reconcile.WithPatches(countingPatcher{&asked}), reconcile.ObserveComponents(observe), reconcile.Concurrency(0)))
	h.Apply(tea)
	h.FailOnce("store", Deploy, errors.New("boom"))
	h.FailOnce("store", Verify, errors.New("boom"))
	h.RunUntilSettled()
	h.Ready("Shop tea")
	assert.Len(t, h.Runs(), asked, "a patcher of the test's own is asked too")
	assert.Greater(t, deployed, 2)
}
