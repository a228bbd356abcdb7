package main

import (
	"os"
	"testing"

	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMain(m *testing.M) {
	program.Main(main)
	os.Exit(m.Run())
}

var (
	caches      = Cache{}.Kind()
	patches     = temporarypatch.DefaultKind
	services    = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
)

// world is a namespace of a real control plane, the user of an operator, and somebody else: the support.
type world struct {
	*envtest.Env
	*bystander.Bystander
	t        *testing.T
	operator *envtest.User
}

// newWorld has what config/ has, and the operator's user with the rights that are there.
func newWorld(t *testing.T) *world {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("config/crd"))
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	return &world{env, bystander.New(t, api, env.Namespace, "support"), t, env.User(t, "operator", envtest.RolesIn("config/rbac"))}
}

// start runs the operator until the test ends or kills it.
func (w *world) start() *program.Process {
	w.t.Helper()
	return program.Start(w.t, program.Command("run", "--namespace", w.Namespace, "--kubeconfig", w.Kubeconfig(w.t, w.operator)))
}

// memory is the limit that the Deployment sets now.
func (w *world) memory() string {
	w.t.Helper()
	obj := w.Get(deployments, "menu")
	if obj == nil {
		return ""
	}
	containers, _, err := unstructured.NestedSlice(obj.Object, "spec", "template", "spec", "containers")
	require.NoError(w.t, err)
	require.Len(w.t, containers, 1)
	limit, _, err := unstructured.NestedString(containers[0].(map[string]any), "resources", "limits", "memory")
	require.NoError(w.t, err)
	return limit
}

// condition is one of an object's, as far as it is about the object as it is now.
func (w *world) condition(kind schema.GroupVersionKind, name, conditionType string) metav1.Condition {
	w.t.Helper()
	obj := w.Get(kind, name)
	require.NotNil(w.t, obj)
	condition, _ := status.Conditions(obj).Get(conditionType)
	if condition.ObservedGeneration != obj.GetGeneration() {
		return metav1.Condition{}
	}
	return condition
}

// settled waits until the cache is Ready, patches are Applied, and the operator has stopped writing.
func (w *world) settled(applied ...string) {
	w.t.Helper()
	w.Eventually("the cache is Ready", func() bool {
		return w.condition(caches, "menu", status.ConditionReady).Status == "True" && w.condition(caches, "menu", status.ConditionUpdating).Status == "False"
	})
	for _, name := range applied {
		w.Eventually(name+" is applied", func() bool { return w.condition(patches, name, temporarypatch.ConditionApplied).Status == "True" })
	}
	w.AwaitQuiet(w.t, w.operator)
}
