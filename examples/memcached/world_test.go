package main

import (
	"net/http"
	"os"
	"testing"

	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/cluster"
	v1 "github.com/operkit/operkit/examples/memcached/api/v1"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

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
	*bystander.Bystander
	t        *testing.T
	operator *envtest.User
	api      *cluster.Cluster
}

func newWorld(t *testing.T) *world {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("config/crd", patchCRD))
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	operator := env.User(t, "operator", envtest.RolesIn("config/rbac/role.yaml"))
	return &world{env, bystander.New(t, api, env.Namespace, "somebody"), t, operator, api}
}

// start runs the operator on the world's namespace until the test ends or stops it.
func (w *world) start() *program.Process {
	w.t.Helper()
	return program.Start(w.t, program.Command("run", "--namespace", w.Namespace, "--kubeconfig", w.Kubeconfig(w.t, w.operator)))
}

// settledWorld is one in which the sample is rolled out by an operator that runs.
func settledWorld(t *testing.T) (*world, *program.Process) {
	t.Helper()
	w := newWorld(t)
	p := w.start()
	w.Create(sample(t))
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

// deployment is that of the sample, as it is now.
func (w *world) deployment() *appsv1.Deployment {
	w.t.Helper()
	obj := w.Get(deployments, "hello")
	require.NotNil(w.t, obj)
	d := &appsv1.Deployment{}
	require.NoError(w.t, runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, d))
	return d
}

// ready tells whether the sample is rolled out as it is now.
func (w *world) ready() bool {
	w.t.Helper()
	cache := w.Get(v1.MemcachedKind, "hello")
	conditions := status.Conditions(cache)
	ready, _ := conditions.Get(status.ConditionReady)
	updating, _ := conditions.Get(status.ConditionUpdating)
	return ready.Status == "True" && updating.Status == "False" && ready.ObservedGeneration == cache.GetGeneration()
}

// settled waits until the sample is Ready as it is now, and the operator hasn't written for a while.
func (w *world) settled() {
	w.t.Helper()
	w.Eventually("the memcached becomes Ready", w.ready)
	w.AwaitQuiet(w.t, w.operator)
}

// written counts what the operator wrote since the mark, by verb and resource, without the events that it told.
func (w *world) written(mark envtest.Mark) map[string]int {
	w.t.Helper()
	return w.writes(mark).Count()
}

// changed is as written, without what the API server refused: to take a field back the operator says which state of the
// object it means, and tries again when somebody else, such as the Deployment's controller, has just written another
// one.
func (w *world) changed(mark envtest.Mark) map[string]int {
	w.t.Helper()
	return w.writes(mark).Filter(func(call audit.Call) bool { return call.Code != http.StatusConflict }).Count()
}

func (w *world) writes(mark envtest.Mark) audit.Calls {
	w.t.Helper()
	return w.CallsSince(w.t, mark, w.operator).Writes().Filter(func(call audit.Call) bool { return call.Resource != "events" })
}
