package main

import (
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	v1 "github.com/operkit/operkit/examples/memcached/api/v1"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

const patience = 60 * time.Second

// patchCRD is the definition of temporary patches, which whoever runs a cluster may install.
const patchCRD = "../../reconcile/temporarypatch/operkit.dev_temporarypatches.yaml"

var (
	deployments      = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	temporaryPatches = schema.GroupVersionKind{Group: "operkit.dev", Version: "v1", Kind: "TemporaryPatch"}
)

// world is a namespace of a real control plane with an operator's user in it, who has the rights of the role that is
// shipped and no other, and somebody else who looks and meddles.
type world struct {
	*envtest.Env
	t        *testing.T
	operator *envtest.User
	config   string
	api      *cluster.Cluster
}

func newWorld(t *testing.T) *world {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("config/crd", patchCRD))
	w := &world{Env: env, t: t, operator: env.User(t, "operator", envtest.RolesIn("config/rbac/role.yaml"))}
	w.config = env.Kubeconfig(t, w.operator)
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	w.api = api
	return w
}

// settledWorld is one in which the sample is rolled out by an operator that runs.
func settledWorld(t *testing.T) (*world, *process) {
	t.Helper()
	w := newWorld(t)
	p := w.start()
	require.NoError(t, w.create(sample(t)))
	w.settled()
	return w, p
}

// sample is the sample that is shipped, which is called hello.
func sample(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile("config/sample.yaml")
	require.NoError(t, err)
	obj := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal(content, &obj.Object))
	return obj
}

// create makes an object in the world's namespace.
func (w *world) create(obj *unstructured.Unstructured) error {
	w.t.Helper()
	obj.SetNamespace(w.Namespace)
	_, err := w.api.Port().Create(w.t.Context(), obj, deploy.CreateOptions{FieldManager: "somebody"})
	return err
}

func (w *world) ref(kind schema.GroupVersionKind, name string) deploy.Ref {
	return deploy.Ref{Kind: kind, Namespace: w.Namespace, Name: name}
}

// get reads an object from the API server, nil when there is none.
func (w *world) get(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	w.t.Helper()
	obj, err := w.api.View().Get(w.t.Context(), w.ref(kind, name))
	require.NoError(w.t, err)
	return obj
}

// deployment is that of the sample, as it is now.
func (w *world) deployment() *appsv1.Deployment {
	w.t.Helper()
	obj := w.get(deployments, "hello")
	require.NotNil(w.t, obj)
	d := &appsv1.Deployment{}
	require.NoError(w.t, runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, d))
	return d
}

// edit changes an object as somebody else.
func (w *world) edit(kind schema.GroupVersionKind, body string, subresource ...string) {
	w.t.Helper()
	patch := deploy.Patch{Type: types.MergePatchType, Body: []byte(body), FieldManager: "somebody"}
	if len(subresource) > 0 {
		patch.Subresource = subresource[0]
	}
	_, err := w.api.Port().Patch(w.t.Context(), w.ref(kind, "hello"), patch)
	require.NoError(w.t, err)
}

func (w *world) delete(kind schema.GroupVersionKind, name string) {
	w.t.Helper()
	require.NoError(w.t, w.api.Port().Delete(w.t.Context(), w.ref(kind, name), deploy.DeleteOptions{}))
}

// eventually asks condition, on the test's own goroutine, until it holds.
func (w *world) eventually(what string, condition func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// ready tells whether the sample is rolled out as it is now.
func (w *world) ready() bool {
	w.t.Helper()
	cache := w.get(v1.MemcachedKind, "hello")
	conditions := status.Conditions(cache)
	ready, _ := conditions.Get(status.ConditionReady)
	updating, _ := conditions.Get(status.ConditionUpdating)
	return ready.Status == "True" && updating.Status == "False" && ready.ObservedGeneration == cache.GetGeneration()
}

// settled waits until the sample is Ready as it is now, and the operator hasn't written for a while.
func (w *world) settled() {
	w.t.Helper()
	w.eventually("the memcached becomes Ready", w.ready)
	for last, now := -1, 0; last != now; now = len(w.Calls(w.t, w.operator).Writes()) {
		last = now
		time.Sleep(400 * time.Millisecond)
	}
}

// written counts what the operator wrote since the mark, by verb and resource, without the events that it told.
func (w *world) written(mark envtest.Mark) map[string]int {
	w.t.Helper()
	return w.writes(mark).Count()
}

// changed is as written, without what the API server refused: to take a field back the operator says which state of the
// object it means, and tries again when somebody else, such as the Deployment's controller, has just written another one.
func (w *world) changed(mark envtest.Mark) map[string]int {
	w.t.Helper()
	return w.writes(mark).Filter(func(call audit.Call) bool { return call.Code != http.StatusConflict }).Count()
}

func (w *world) writes(mark envtest.Mark) audit.Calls {
	w.t.Helper()
	return w.CallsSince(w.t, mark, w.operator).Writes().Filter(func(call audit.Call) bool { return call.Resource != "events" })
}
