package main

import (
	"testing"

	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/cluster"
	v1 "github.com/operkit/operkit/examples/from-kopf/api/v1"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The resources whose calls are counted.
const (
	claims  = "ephemeralvolumeclaims.examples.operkit.dev"
	volumes = "persistentvolumeclaims"
)

// world is a namespace of a real control plane in which the operator runs, as a user with the given rights and no
// other, and somebody else who looks and meddles.
type world struct {
	*envtest.Env
	*bystander.Bystander
	t        *testing.T
	operator *envtest.User
	process  *program.Process
	// config is the file with which the operator reaches the API server.
	config string
}

// newWorld returns one for an operator that has the rights of the role that is shipped, unless others are given. The
// operator runs.
func newWorld(t *testing.T, rights ...envtest.Grant) *world {
	t.Helper()
	w := emptyWorld(t, rights...)
	w.start()
	return w
}

// emptyWorld is a newWorld in which the operator doesn't run yet.
func emptyWorld(t *testing.T, rights ...envtest.Grant) *world {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("config/crd"))
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	if len(rights) == 0 {
		rights = []envtest.Grant{envtest.RolesIn("config/rbac/role.yaml")}
	}
	w := &world{Env: env, Bystander: bystander.New(t, api, env.Namespace, "somebody"), t: t, operator: env.User(t, "operator", rights...)}
	w.config = w.Kubeconfig(t, w.operator)
	return w
}

func (w *world) start() {
	w.process = program.Start(w.t, program.Command("run", "--namespace", w.Namespace, "--kubeconfig", w.config))
}

// settledWorld is one in which the sample has its PVC.
func settledWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.CreateFile("config/sample.yaml")
	w.awaitCondition("Claimed", metav1.ConditionTrue)
	w.AwaitQuiet(t, w.operator)
	return w
}

func (w *world) awaitCondition(conditionType string, value metav1.ConditionStatus) (found metav1.Condition) {
	w.t.Helper()
	w.Eventually(conditionType+" becomes "+string(value), func() bool {
		found, _ = status.Conditions(w.Get(v1.EphemeralVolumeClaimKind, "hello")).Get(conditionType)
		return found.Status == value
	})
	return found
}

// awaitCapacity waits until the daemon has measured the volume.
func (w *world) awaitCapacity(size string) {
	w.t.Helper()
	w.Eventually("the status has the capacity "+size, func() bool {
		found, _, _ := unstructured.NestedString(w.Get(v1.EphemeralVolumeClaimKind, "hello").Object, "status", "capacity")
		return found == size
	})
}

// bind creates a Pod that uses the PVC, and waits until this is bound.
func (w *world) bind() {
	w.t.Helper()
	w.CreateYAML(user)
	w.Eventually("the PVC is bound", func() bool { return w.text("status", "phase") == "Bound" })
}

// gone waits until an object is gone.
func (w *world) gone(kind schema.GroupVersionKind, name string) {
	w.t.Helper()
	w.Eventually(kind.Kind+" "+name+" is gone", func() bool { return w.Get(kind, name) == nil })
}

// text returns a text of the PVC, empty if there is none.
func (w *world) text(path ...string) string {
	w.t.Helper()
	pvc := w.Get(pvcKind, "hello")
	if pvc == nil {
		return ""
	}
	text, _, err := unstructured.NestedString(pvc.Object, path...)
	require.NoError(w.t, err)
	return text
}

// writes are the counted writes of the operator since a mark, without events.
func (w *world) writes(mark envtest.Mark) map[string]int {
	w.t.Helper()
	w.AwaitQuiet(w.t, w.operator)
	return w.CallsSince(w.t, mark, w.operator).Of(claims, volumes).Writes().Count()
}
