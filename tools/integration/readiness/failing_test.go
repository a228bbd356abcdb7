package readiness

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/status/readiness"
)

var fails = []readiness.State{readiness.InProgress, readiness.Failed}

var failing = []story{
	{
		kind: "Deployment.apps", reason: "the deadline for its progress has passed",
		manifest: `
apiVersion: apps/v1
kind: Deployment
metadata: {name: it}
spec:
  replicas: 1
  progressDeadlineSeconds: 6 # the pod is there by then: that it comes would be progress again
  selector: {matchLabels: {app: it}}
  template:` + pods,
		states: fails, agrees: rollout("deployment/it", "exceeded its progress deadline"),
	},
	{
		kind: "Job.batch", reason: "its time is over",
		manifest: `
apiVersion: batch/v1
kind: Job
metadata: {name: it}
spec:
  activeDeadlineSeconds: 1
  template:
    spec:
      restartPolicy: Never
      schedulingGates: [{name: operkit.dev/held}]
      containers: [{name: main, image: none}]`,
		states: fails, agrees: wait("condition=FailureTarget", "job/it"), follows: wait("condition=Failed", "job/it"),
	},
	{
		kind: "Pod", reason: "its image can't be had, as a kubelet would report it",
		manifest: `
apiVersion: v1
kind: Pod
metadata: {name: it}
spec:
  schedulingGates: [{name: operkit.dev/held}]
  containers: [{name: main, image: none}]`,
		steps: []step{{"PodPending", func(t *testing.T, w *world) {
			t.Helper()
			w.patch(t, "v1", "Pod", "it", `
status:
  containerStatuses:
  - {name: main, image: none, imageID: "", ready: false, restartCount: 0, state: {waiting: {reason: ImagePullBackOff, message: no such image}}}`, "status")
		}}},
		states: fails,
		agrees: wait("jsonpath={.status.containerStatuses[0].state.waiting.reason}=ImagePullBackOff", "pod/it"),
	},
	{
		kind: "PersistentVolumeClaim", reason: "its volume is gone",
		before:   []string{volume},
		manifest: claim,
		steps:    []step{{"ClaimBound", loseVolume}},
		states:   []readiness.State{readiness.InProgress, readiness.Ready, readiness.Failed},
		agrees:   wait("jsonpath={.status.phase}=Lost", "persistentvolumeclaim/it"),
	},
}

// loseVolume deletes the volume although it is in use.
func loseVolume(t *testing.T, w *world) {
	t.Helper()
	volumes := w.resource(t, schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolume"})
	require.NoError(t, volumes.Delete(t.Context(), w.namespace, metav1.DeleteOptions{}))
	w.patch(t, "v1", "PersistentVolume", w.namespace, "{metadata: {finalizers: null}}")
}

func TestFailed(t *testing.T) {
	t.Parallel()
	for _, s := range failing {
		t.Run(s.kind+": "+s.reason, func(t *testing.T) {
			t.Parallel()
			s.tell(t)
		})
	}
}
