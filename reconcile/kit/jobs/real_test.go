package jobs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/jobs"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const shopDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.jobs.example.dev}
spec:
  group: jobs.example.dev
  names: {kind: Shop, plural: shops, singular: shop}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

var (
	jobKind = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
	podKind = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
)

// byHand returns a Job whose Pods no node takes for odd versions, so that the test plays their kubelet. Pods of even
// versions succeed at once.
func byHand(s *reconcile.Session) any {
	job := migration(fields{"backoffLimit": int64(0)})
	image, _, _ := unstructured.NestedString(s.Resource().Object, "spec", "image")
	spec := job["spec"].(fields)["template"].(fields)["spec"].(fields)
	if image != "" {
		spec["containers"].(list)[0].(fields)["image"] = image
	}
	if version, err := strconv.Atoi(s.Version()); err == nil && version%2 == 1 {
		spec["nodeSelector"] = fields{"jobs.example.dev/played": "by-hand"}
	}
	return job
}

// onServer is a harness on a real API server.
type onServer struct {
	*reconciletest.Harness
	t   *testing.T
	env *envtest.Env
}

func newServer(t *testing.T, opts ...jobs.Option) *onServer {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shops.yaml")
	require.NoError(t, os.WriteFile(file, []byte(shopDefinition), 0o600))
	env := envtest.Start(t, envtest.CRDs(file))
	c, err := cluster.New(t.Context(), env.Config, cluster.Namespaces(env.Namespace))
	require.NoError(t, err)
	h := reconciletest.New(t, shop(byHand, opts...), reconciletest.On(c, time.Second), reconciletest.Namespace(env.Namespace))
	return &onServer{h, t, env}
}

// jobs returns the Jobs of the shop, by the label with their value.
func (o *onServer) jobs() map[string]*unstructured.Unstructured {
	o.t.Helper()
	found, err := o.Cluster().Port().List(o.t.Context(), jobKind, o.env.Namespace, deploy.ListOptions{})
	require.NoError(o.t, err)
	byValue := map[string]*unstructured.Unstructured{}
	for _, job := range found {
		byValue[job.GetLabels()["operkit.dev/once-value"]] = job
	}
	return byValue
}

// play sets the status of the only Pod of the Job of a value, as its kubelet would.
func (o *onServer) play(value string, status fields) {
	o.t.Helper()
	var pods []*unstructured.Unstructured
	require.Eventually(o.t, func() bool {
		job := o.jobs()[value]
		if job == nil {
			return false
		}
		var err error
		pods, err = o.Cluster().Port().List(o.t.Context(), podKind, o.env.Namespace,
			deploy.ListOptions{Labels: labels.SelectorFromSet(labels.Set{"batch.kubernetes.io/controller-uid": string(job.GetUID())})})
		return err == nil && len(pods) == 1
	}, time.Minute, 50*time.Millisecond)
	body, err := json.Marshal(fields{"status": status})
	require.NoError(o.t, err)
	_, err = o.Cluster().Port().Patch(o.t.Context(), deploy.RefOf(pods[0]),
		deploy.PatchRequest{Type: types.MergePatchType, Subresource: "status", FieldManager: "kubelet", Body: body})
	require.NoError(o.t, err)
}

// until reconciles until something holds. A run until the shop is settled would wait for the backoff of failures.
func (o *onServer) until(what string, holds func() bool) {
	o.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if _, _ = o.Reconcile("Shop tea"); holds() {
			return
		}
		require.True(o.t, time.Now().Before(end), "never: %s; the message is %s", what, message(o.Harness))
	}
}

// runUntil runs until the message of the shop contains text.
func (o *onServer) runUntil(text string) {
	o.t.Helper()
	o.until(text, func() bool { return strings.Contains(message(o.Harness), text) })
}

var runningPod = fields{"phase": "Running", "conditions": list{fields{"type": "Ready", "status": "True"}},
	"containerStatuses": list{fields{"name": "migrate", "image": "shop:1", "imageID": "", "ready": true, "restartCount": int64(0),
		"state": fields{"running": fields{"startedAt": "2030-01-01T00:00:00Z"}}}}}

func TestOnServer(t *testing.T) {
	t.Parallel()
	o := newServer(t)
	o.Apply(newTea("2"))
	o.RunUntilSettled()
	o.Ready("Shop tea")

	t.Run("jobs 21: on the API server a settled shop costs no call, and a changed template runs nothing", func(t *testing.T) {
		first := o.jobs()["2"].GetUID()
		mark := o.env.Mark(t)
		_, err := o.Reconcile("Shop tea")
		require.NoError(t, err)
		assert.Empty(t, o.env.CallsSince(t, mark, o.env.Self).Count())
		o.Restart()
		o.RunUntilSettled()
		assert.Empty(t, o.env.CallsSince(t, mark, o.env.Self).Writes())
		mark = o.env.Mark(t)
		o.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.Object["spec"].(fields)["image"] = "shop:other" })
		o.RunUntilSettled()
		o.Ready("Shop tea")
		assert.Empty(t, o.env.CallsSince(t, mark, o.env.Self).Of("jobs.batch").Writes())
		assert.Equal(t, first, o.jobs()["2"].GetUID())
	})
	t.Run("jobs 21: on the API server the Job of a new value waits for the one that runs", func(t *testing.T) {
		want(t, o.Harness, "1")
		o.RunUntilSettled()
		o.play("1", runningPod)
		want(t, o.Harness, "3")
		o.runUntil(`has ended, which runs for the value "1"`)
		assert.Nil(t, o.jobs()["3"])
		assert.NotNil(t, o.jobs()["1"])
		o.play("1", fields{"phase": "Succeeded"})
		o.until("the next Job", func() bool { return o.jobs()["3"] != nil })
	})
	t.Run("jobs 21: on the API server a Job that has failed says why, and runs again when it was deleted", func(t *testing.T) {
		o.play("3", fields{"phase": "Failed", "containerStatuses": list{fields{"name": "migrate", "image": "shop:1", "imageID": "", "ready": false,
			"restartCount": int64(0), "state": fields{"terminated": fields{"exitCode": int64(3), "reason": "Error", "message": "relation \"teas\" exists\n",
				"startedAt": "2030-01-01T00:00:00Z", "finishedAt": "2030-01-01T00:00:01Z"}}}}})
		o.runUntil("Failed (Job has reached the specified backoff limit); Pod tea-migrate-")
		assert.Contains(t, message(o.Harness), `container "migrate" ended with exit code 3: relation "teas" exists`)
		before := o.jobs()["3"]
		o.Delete("Job " + before.GetName())
		o.until("a Job made anew", func() bool { return o.jobs()["3"] != nil && o.jobs()["3"].GetUID() != before.GetUID() })
		o.play("3", fields{"phase": "Succeeded"})
		o.until("Ready", func() bool { return o.Condition("Shop tea", "Updating").Status == "False" })
		assert.Equal(t, "3", o.Get(web).Object["data"].(fields)["version"])
		assert.Len(t, o.jobs(), 1)
	})
	t.Run("jobs 22: on the API server the Job of a shop that was deleted doesn't count for the next one of its name", func(t *testing.T) {
		want(t, o.Harness, "2")
		o.until("Ready", func() bool {
			return o.jobs()["2"] != nil && o.Condition("Shop tea", "Updating").Status == "False"
		})
		before := o.jobs()["2"].GetUID()
		o.Delete("Shop tea")
		o.Apply(newTea("2"))
		o.until("Ready", func() bool { return o.Condition("Shop tea", "Updating").Status == "False" })
		assert.NotEqual(t, before, o.jobs()["2"].GetUID())
	})
}

func TestReplaceOnServer(t *testing.T) {
	t.Parallel()
	t.Run("jobs 21: on the API server Replace deletes a Job that runs, and then the next one runs", func(t *testing.T) {
		t.Parallel()
		o := newServer(t, jobs.Replace())
		o.Apply(newTea("1"))
		o.RunUntilSettled()
		o.play("1", runningPod)
		want(t, o.Harness, "2")
		o.until("Ready", func() bool { return o.Condition("Shop tea", "Updating").Status == "False" })
		assert.Equal(t, "2", o.Get(web).Object["data"].(fields)["version"])
		assert.Len(t, o.jobs(), 1)
	})
}
