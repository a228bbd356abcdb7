package reconciletest

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/tools/envtest"
)

// inMemory knows the definition of the kind, as the real one does.
func inMemory(*testing.T) []reconciletest.Option {
	return []reconciletest.Option{reconciletest.Definitions("testdata/crds")}
}

// onControlPlane is the switch: the test's own namespace, and its own user.
func onControlPlane(t *testing.T) []reconciletest.Option {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("testdata/crds"))
	ctx, cancel := context.WithCancel(t.Context())
	c, err := cluster.New(ctx, env.Config, cluster.Namespaces(env.Namespace), cluster.Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	t.Cleanup(func() {
		cancel()
		c.Wait()
	})
	return []reconciletest.Option{reconciletest.On(c, 0), reconciletest.Namespace(env.Namespace)}
}

// TestSwitch runs each story in memory and on a control plane, and compares what was done to which objects.
func TestSwitch(t *testing.T) {
	t.Parallel()
	for _, story := range []struct {
		name, reason string
		run          func(t *testing.T, h *reconciletest.Harness) (did []string)
	}{
		{"life", "created, edited, repaired, deleted", life},
		{"failures", "injected errors happen in the same phases", failures},
		{"restart", "who knows nothing finds everything as it should be", restart},
	} {
		t.Run(story.name, func(t *testing.T) {
			t.Parallel()
			memory := story.run(t, reconciletest.New(t, shop{}, inMemory(t)...))
			live := reconciletest.New(t, shop{}, onControlPlane(t)...)
			require.True(t, live.Real())
			assert.Equal(t, memory, story.run(t, live), story.reason)
			assert.NotEmpty(t, memory)
		})
	}
}

// changed are the objects that were created, changed or deleted in the latest run, each once. A status is left out:
// workloads get ready in more steps on a real cluster.
func changed(h *reconciletest.Harness) (did []string) {
	for _, call := range h.Calls() {
		if call.Write() && call.Subresource == "" {
			did = append(did, string(call.Action)+" "+call.Ref.Kind.Kind+" "+call.Ref.Name)
		}
	}
	slices.Sort(did)
	return slices.Compact(did)
}

func life(t *testing.T, h *reconciletest.Harness) (did []string) {
	t.Helper()
	h.Apply(tea)
	h.RunUntilSettled()
	h.Ready("Shop tea")
	h.Created("StatefulSet tea-store", "Deployment tea-counter", "Service tea-store", "ConfigMap tea-door")
	h.Golden("Shop tea", "tea")
	did = append(did, changed(h)...)

	h.RunUntilSettled()
	h.Writes(0)

	h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.Object["spec"] = map[string]any{"sign": "closed"} })
	h.RunUntilSettled()
	h.Ready("Shop tea")
	h.Configured("ConfigMap tea-door")
	did = append(did, changed(h)...)

	h.Delete("Deployment tea-counter")
	h.RunUntilSettled()
	h.Created("Deployment tea-counter")
	h.Ready("Shop tea")
	did = append(did, changed(h)...)

	h.Delete("Shop tea")
	h.RunUntilSettled()
	h.Gone("Shop tea", "ConfigMap tea-door", "Deployment tea-counter", "StatefulSet tea-store", "Service tea-store")
	h.Deleted("ConfigMap tea-door")
	return append(did, changed(h)...)
}

func failures(t *testing.T, h *reconciletest.Harness) (did []string) {
	t.Helper()
	boom := errors.New("boom")
	h.Apply(tea)
	forEver := h.Fail("store", reconciletest.Deploy, &deploy.ForbiddenError{Verb: "patch", Name: "tea-store", Err: boom})
	_, err := h.Reconcile("Shop tea")
	require.ErrorIs(t, err, boom)
	did = append(did, changed(h)...)
	forEver.Heal()
	did = append(did, h.Condition("Shop tea", "Updating").Reason)

	h.FailOnce("counter.service/tea-counter", reconciletest.Deploy, boom)
	h.FailOnce("store", reconciletest.Verify, boom)
	h.FailOnce("", reconciletest.Setup, boom)
	h.RunUntilSettled()
	h.Ready("Shop tea")
	did = append(did, changed(h)...)

	h.FailOnce("door", reconciletest.Finalize, boom)
	h.Delete("Shop tea")
	h.RunUntilSettled()
	h.Gone("Shop tea", "ConfigMap tea-door")
	return append(did, changed(h)...)
}

func restart(t *testing.T, h *reconciletest.Harness) (did []string) {
	t.Helper()
	h.Apply(tea)
	h.RunUntilSettled()
	did = changed(h)
	h.Restart()
	h.RunUntilSettled()
	h.Writes(0)
	h.Ready("Shop tea")
	return did
}
