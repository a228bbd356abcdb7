package cluster

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/devcluster/internal/component"
	"github.com/operkit/operkit/tools/devcluster/internal/control"
	"github.com/operkit/operkit/tools/devcluster/internal/state"
)

func (f *fixture) pid(n component.Name) int {
	f.t.Helper()
	for _, c := range f.state().Components {
		if c.Name == n {
			return c.PID
		}
	}
	f.t.Fatalf("%s is not in the state", n)
	return 0
}

func TestStopAndStartComponent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.start()
	server, before := c.Server(), f.pid(component.APIServer)
	for range 2 {
		require.NoError(t, c.Act(t.Context(), component.APIServer, control.Stop), "stopping what is stopped does nothing")
		s := c.Status(t.Context())
		assert.Equal(t, s, f.state())
		assert.Equal(t, state.Degraded, s.Phase)
		assert.False(t, s.Ready)
		assert.Equal(t, "apiserver is stopped", s.Message)
		assert.Zero(t, f.pid(component.APIServer))
	}
	assert.Len(t, f.happened("stop apiserver"), 1, "it was asked to end, not killed")
	for _, n := range []component.Name{component.ControllerManager, component.Scheduler, component.Kwok} {
		assert.EqualError(t, c.Act(t.Context(), n, control.Restart),
			"component "+string(n)+" cannot be started: apiserver is not running, start it first")
		assert.NotZero(t, f.pid(n), "what cannot be started again is not stopped")
	}
	for range 2 {
		require.NoError(t, c.Act(t.Context(), component.APIServer, control.Start), "starting what runs does nothing")
		assert.True(t, f.state().Ready)
		assert.Equal(t, server, c.Server())
		assert.NotEqual(t, before, f.pid(component.APIServer))
	}
	assert.Len(t, f.happened("start apiserver"), 2)
}

func TestRestartComponent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.start()
	for _, n := range component.All() {
		before := f.pid(n)
		require.NoError(t, c.Act(t.Context(), n, control.Restart), n)
		assert.NotEqual(t, before, f.pid(n))
		assert.True(t, f.state().Ready, n)
	}
	assert.Equal(t, []string{"DELETE " + leasePath}, f.happened("DELETE"), "a new kwok finds the node free")
}

func TestStartWaitsForTheOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.start()
	require.NoError(t, c.Act(t.Context(), component.Etcd, control.Stop))
	f.misbehave("unhealthy apiserver")
	acted := make(chan error, 1)
	go func() { acted <- c.Act(t.Context(), component.Etcd, control.Start) }()
	require.Eventually(t, func() bool {
		s := f.state()
		return s.Components[0].Phase == state.Ready && strings.HasPrefix(s.Message, "apiserver does not answer")
	}, patience, time.Millisecond, "etcd is there, the API server has not found it")
	select {
	case err := <-acted:
		t.Fatalf("it returned before the cluster was ready: %v", err)
	default:
	}
	f.misbehave()
	require.NoError(t, <-acted)
	assert.True(t, f.state().Ready)
}

func TestCrashAfterRestart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.start()
	f.misbehave("crash scheduler")
	err := c.Act(t.Context(), component.Scheduler, control.Restart)
	var crash *CrashError
	require.ErrorAs(t, err, &crash)
	assert.Equal(t, component.Scheduler, crash.Component)
	assert.ErrorAs(t, c.Wait(t.Context()), &crash)
}

func TestStartGoesOnWithoutTheOneWhoAsked(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.start()
	f.misbehave("unhealthy scheduler")
	ctx, cancel := context.WithCancel(t.Context())
	acted := make(chan error, 1)
	go func() { acted <- c.Act(ctx, component.Scheduler, control.Restart) }()
	require.Eventually(t, func() bool { return len(f.happened("start scheduler")) == 2 }, patience, time.Millisecond)
	cancel()
	require.EqualError(t, <-acted, "start: interrupted")
	assert.False(t, c.Status(t.Context()).Ready)
	f.misbehave()
	require.NoError(t, c.Act(t.Context(), component.Scheduler, control.Start))
	assert.True(t, f.state().Ready)
	assert.Len(t, f.happened("start scheduler"), 2, "it is the same process")
}

func TestStopWhileAComponentStarts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.start()
	f.misbehave("silent scheduler")
	acted := make(chan error, 1)
	go func() { acted <- c.Act(t.Context(), component.Scheduler, control.Restart) }()
	require.Eventually(t, func() bool { return len(f.happened("start scheduler")) == 2 }, patience, time.Millisecond)
	s := f.state()
	c.Stop()
	assert.EqualError(t, <-acted, "stopped on request")
	f.requireEnded(s)
}

func TestMonitor(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.start()
	for range 2 {
		f.misbehave("unhealthy apiserver")
		require.Eventually(t, func() bool { return f.state().Phase == state.Degraded }, patience, time.Millisecond)
		assert.False(t, f.state().Ready)
		assert.Contains(t, f.state().Message, "apiserver does not answer: ")
		assert.Contains(t, f.state().Message, "not feeling well")
		f.misbehave()
		require.Eventually(t, func() bool { return f.state().Ready }, patience, time.Millisecond)
		assert.Empty(t, f.state().Message)
	}
	f.misbehave("unhealthy scheduler")
	assert.False(t, c.Status(t.Context()).Ready, "who asks needs not wait for the next look")

	f.misbehave()
	require.Eventually(t, func() bool { return f.state().Ready }, patience, time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.True(t, c.Status(ctx).Ready, "a question that was abandoned says nothing about the cluster")
}

// TestAssessmentIsVoidAfterAChange: the API server is stopped after a look at it and before the end of
// the look at all components.
func TestAssessmentIsVoidAfterAChange(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.start()
	f.misbehave("slow scheduler", "slow controller-manager")
	asked := make(chan state.State, 1)
	go func() { asked <- c.Status(t.Context()) }()
	// The monitor looks on by itself; what counts is that a look has begun when the server is stopped.
	require.Eventually(t, func() bool { return !c.assessment.TryLock() || unlock(c) }, patience, time.Millisecond)
	require.NoError(t, c.Act(t.Context(), component.APIServer, control.Stop))
	f.misbehave()
	assert.False(t, (<-asked).Ready)
	for range 20 {
		require.False(t, f.state().Ready)
		require.False(t, c.Status(t.Context()).Ready)
	}
}

// unlock undoes a TryLock that has shown that no look is going on.
func unlock(c *Cluster) bool {
	c.assessment.Unlock()
	return false
}
