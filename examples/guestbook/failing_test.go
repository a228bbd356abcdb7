package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var quotas = schema.GroupVersionKind{Version: "v1", Kind: "ResourceQuota"}

// forbidDeployments has a quota refuse Deployments, and returns when it does.
func (w *world) forbidDeployments() {
	w.t.Helper()
	w.forbid("no-deployments", "count/deployments.apps")
}

// forbid has a quota of the given name refuse what it counts, and returns when it does.
func (w *world) forbid(name, counts string) {
	w.t.Helper()
	quota := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"hard": map[string]any{counts: "0"}}}}
	quota.SetGroupVersionKind(quotas)
	quota.SetName(name)
	w.Apply(quota)
	w.Eventually("the quota is in force", func() bool {
		_, counted, _ := unstructured.NestedString(w.Get(quotas, name).Object, "status", "used", counts)
		return counted
	})
}

// refusals are the operator's attempts to write the Deployment that were refused.
func (w *world) refusals() audit.Calls {
	w.t.Helper()
	return w.Calls(w.t, w.operator).Of("deployments.apps").Writes().Failed()
}

func TestComponentThatFailsForEver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.forbidDeployments()
	p := w.start()
	w.create()

	w.Eventually("the condition names component, object and reason", func() bool {
		updating, message, current := w.condition(status.ConditionUpdating)
		return updating == "False" && current && strings.Contains(message, "component web: ") &&
			strings.Contains(message, `deployments.apps "hello-web"`) && strings.Contains(message, "exceeded quota: no-deployments")
	})
	ready, _, _ := w.condition(status.ConditionReady)
	assert.Equal(t, "False", ready)
	assert.Equal(t, map[string]any{"verified": []any{"redis"}, "failed": []any{"web"}}, w.components(), "the other one is ready")

	// Events are sent beside the work, so that this one may come after the status.
	w.Eventually("the failure is told", func() bool {
		return slices.ContainsFunc(w.events(), func(text string) bool { return strings.HasPrefix(text, "Warning ") })
	})

	mark := w.Mark(t)
	const tries = 6
	w.Eventually("it goes on trying", func() bool { return len(w.refusals()) >= tries })
	// The first ones may be for events of what was rolled out just before.
	calls := w.refusals()[tries-4 : tries]
	// After the third failure it is a second, less up to a tenth. On a busy machine a pause may be longer.
	for i, least := range []time.Duration{900 * time.Millisecond, 1800 * time.Millisecond, 3600 * time.Millisecond} {
		assert.GreaterOrEqual(t, calls[i+1].Received.Sub(calls[i].Received), least, "each pause is twice the one before it:\n%s", times(calls))
	}
	since := w.CallsSince(t, mark, w.operator)
	assert.Equal(t, len(since), len(since.Of("deployments.apps")), "each try costs the one call that fails, and says nothing that is said already:\n%s", since)

	w.Delete(services, "hello-redis")
	w.Eventually("the other component is looked after meanwhile", func() bool { return w.Get(services, "hello-redis") != nil })
	w.Delete(quotas, "no-deployments")
	w.settled()
	assert.True(t, p.Running(), "without a restart")
	assert.Equal(t, map[string]any{"verified": []any{"redis", "web"}, "failed": []any{}}, w.components())
}

// components are those that the status says are verified, and failed.
func (w *world) components() map[string]any {
	w.t.Helper()
	state, _, err := unstructured.NestedMap(w.Get(v1.GuestbookKind, "hello").Object, "status", "componentStatus")
	require.NoError(w.t, err)
	return map[string]any{"verified": state["verifiedComponents"], "failed": state["failedComponents"]}
}

func times(calls audit.Calls) string {
	var lines []string
	for _, call := range calls {
		lines = append(lines, call.Received.Format(time.StampMicro)+" "+call.String())
	}
	return strings.Join(lines, "\n")
}
