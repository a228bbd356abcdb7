package main

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
)

// TestHandledObjects checks that the objects of the rows of handlers are as large as the rows say, and are settled.
func TestHandledObjects(t *testing.T) {
	t.Parallel()
	size := func(content any) float64 {
		document, err := json.Marshal(content)
		require.NoError(t, err)
		return float64(len(document))
	}
	assert.InDelta(t, 2_000, size(largeResource().Object["spec"]), 100)
	before, after := largeDeployments(t)
	assert.InDelta(t, 25_000, size(before), 500)
	assert.Len(t, diffOf(before, after), 3)

	handled, err := handle(rolledOutDeployments(3))
	require.NoError(t, err)
	for _, obj := range handled {
		deployment := obj.(*appsv1.Deployment)
		assert.Equal(t, []string{"operkit.dev/operkit"}, deployment.Finalizers)
		assert.Contains(t, deployment.Annotations["operkit.dev/operkit-handled.operkit"], deployment.Spec.Template.Spec.Containers[1].Image)
	}
}

// TestSettledPasses checks that an event brings each side to exactly one reconcile, which takes no request.
func TestSettledPasses(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]style{"handlers": ofHandlers, "session": ofSession, "desired": ofDesired, "session of many": ofManySession} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(t.Context())
			o, stopped, err := settle(ctx, of)
			require.NoError(t, err)
			require.NoError(t, o.force(ctx))
			assert.False(t, (<-o.ended).Before(<-o.began))
			require.ErrorContains(t, o.awaitQuiet(), "no reconcile within")
			stop()
			require.NoError(t, <-stopped)
			calls, err := settledCalls(of)()
			require.NoError(t, err)
			assert.Zero(t, calls)
		})
	}
}
