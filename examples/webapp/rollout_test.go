package main

import (
	"strings"
	"testing"

	v1 "github.com/operkit/operkit/examples/webapp/api/v1"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestRolledOutStageByStage(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.create(w.staging, w.production)
	w.settled()

	calls := w.Calls(t, w.operator)
	assert.Equal(t, []string{
		"patch configmaps in staging", "patch services in staging", "patch deployments in staging",
		"patch configmaps in production", "patch services in production", "patch deployments in production",
	}, w.written(calls), "each child is written once, staging before production")
	assert.Empty(t, calls.Failed(), "nothing was refused")
	assert.Empty(t, calls.Of("configmaps", "services", "deployments.apps", "namespaces").Reads(), "all is read from watches")

	available, ok := status.Conditions(w.child(deployments, w.staging)).Get("Available")
	require.True(t, ok)
	began := w.child(configMaps, w.production).GetCreationTimestamp()
	assert.False(t, began.Time.Before(available.LastTransitionTime.Time), "production began once staging was ready")

	app := w.Get(v1.WebAppKind, w.app)
	assert.Empty(t, app.GetFinalizers(), "the cluster collects what it owns")
	blocks := true
	owner := metav1.OwnerReference{
		APIVersion: "examples.operkit.dev/v1", Kind: "WebApp", Name: w.app, UID: app.GetUID(), BlockOwnerDeletion: &blocks,
	}
	for _, namespace := range []string{w.staging, w.production} {
		assert.Equal(t, firstRelease, w.out(namespace))
		for _, kind := range children {
			assert.Equal(t, []metav1.OwnerReference{owner}, w.child(kind, namespace).GetOwnerReferences(), "%s in %s", kind.Kind, namespace)
		}
	}
}

func TestReleaseIsRolledOut(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.create(w.staging, w.production)
	w.settled()
	mark := w.Mark(t)
	w.channel.release("1.5.0")
	w.Eventually("it is out", func() bool { return w.out(w.production) == "1.5.0" })
	w.settled()
	assert.Equal(t, "1.5.0", w.out(w.staging))
	assert.Equal(t, []string{
		"patch configmaps in staging", "patch deployments in staging", "patch configmaps in production", "patch deployments in production",
	}, w.written(w.CallsSince(t, mark, w.operator)), "what names the version, and nothing else")
}

func TestReleaseThatIsNeverReadyInStaging(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.create(w.staging, w.production)
	w.settled()
	w.allowOnePod()
	mark := w.Mark(t)
	w.channel.release("2.0.0")
	w.Eventually("the condition says what is waited for", func() bool {
		updating := w.condition(status.ConditionUpdating)
		return updating.Status == metav1.ConditionTrue && strings.Contains(updating.Message, "Deployment "+w.app+"-web") &&
			strings.Contains(updating.Message, w.production+" waits for "+w.staging)
	})
	w.AwaitQuiet(t, w.operator)
	assert.Equal(t, "2.0.0", w.out(w.staging))
	assert.Equal(t, firstRelease, w.out(w.production))
	assert.Equal(t, []string{"patch configmaps in staging", "patch deployments in staging"}, w.written(w.CallsSince(t, mark, w.operator)))

	w.in(w.staging).Delete(quotas, "one-pod")
	w.Eventually("the rollout goes on by itself", func() bool { return w.out(w.production) == "2.0.0" })
	w.settled()
}

var quotas = schema.GroupVersionKind{Version: "v1", Kind: "ResourceQuota"}

// allowOnePod has staging hold no second Pod, so that none of another version can start, and returns when that holds.
func (w *world) allowOnePod() {
	w.t.Helper()
	quota := object(quotas, "one-pod")
	quota.Object["spec"] = map[string]any{"hard": map[string]any{"pods": "1"}}
	w.in(w.staging).Apply(quota)
	w.Eventually("the quota is in force", func() bool {
		used, _, _ := unstructured.NestedString(w.in(w.staging).Get(quotas, "one-pod").Object, "status", "used", "pods")
		return used == "1"
	})
}
