package main

import (
	"os"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/cluster"
	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// patchCRD is the definition of temporary patches, which whoever runs a cluster may install.
const patchCRD = "../../reconcile/temporarypatch/operkit.dev_temporarypatches.yaml"

// world is a namespace of a real control plane with an operator's user in it, and somebody
// else who looks and meddles.
type world struct {
	*envtest.Env
	*bystander.Bystander
	t        *testing.T
	operator *envtest.User
	config   string
}

func newWorld(t *testing.T, options ...envtest.Option) *world {
	t.Helper()
	return newWorldFor(t, envtest.RolesIn("config/rbac/role.yaml"), append(options, envtest.CRDs("config/crd", patchCRD))...)
}

func newWorldFor(t *testing.T, rights envtest.Grant, options ...envtest.Option) *world {
	t.Helper()
	env := envtest.Start(t, options...)
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	operator := env.User(t, "operator", rights)
	return &world{env, bystander.New(t, api, env.Namespace, "somebody"), t, operator, env.Kubeconfig(t, operator)}
}

// start runs the operator on the world's namespace until the test ends or stops it. More variables of its
// environment may be given.
func (w *world) start(variables ...string) *program.Process {
	w.t.Helper()
	command := program.Command("run", "--namespace", w.Namespace, "--kubeconfig", w.config)
	command.Env = append(os.Environ(), variables...)
	return program.Start(w.t, command)
}

var (
	secrets      = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	services     = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	configMaps   = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	deployments  = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	statefulSets = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}

	temporaryPatches = schema.GroupVersionKind{Group: "operkit.dev", Version: "v1", Kind: "TemporaryPatch"}
)

// create makes the guestbook "hello".
func (w *world) create() {
	w.t.Helper()
	w.Apply(guestbook("hello"))
}

func guestbook(name string) *unstructured.Unstructured {
	book := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"size": int64(2), "image": "guestbook:1", "message": "Welcome!", "redis": map[string]any{"enabled": true},
	}}}
	book.SetGroupVersionKind(v1.GuestbookKind)
	book.SetName(name)
	return book
}

// condition reads one condition of the guestbook.
func (w *world) condition(conditionType string) (status string, message string, current bool) {
	w.t.Helper()
	book := w.Get(v1.GuestbookKind, "hello")
	if book == nil {
		return "", "", false
	}
	c, ok := readCondition(book, conditionType)
	return c.status, c.message, ok && c.generation == book.GetGeneration()
}

type condition struct {
	status, message string
	generation      int64
}

func readCondition(book *unstructured.Unstructured, conditionType string) (condition, bool) {
	c, ok := status.Conditions(book).Get(conditionType)
	return condition{string(c.Status), c.Message, c.ObservedGeneration}, ok
}

// ready tells whether the guestbook is rolled out as it is now.
func (w *world) ready() bool {
	w.t.Helper()
	ready, _, current := w.condition(status.ConditionReady)
	updating, _, _ := w.condition(status.ConditionUpdating)
	return ready == "True" && current && updating == "False"
}

// settled waits until the guestbook is Ready as it is now, and the operator has stopped writing.
func (w *world) settled() {
	w.t.Helper()
	w.settledWithin(bystander.Patience)
}

func (w *world) settledWithin(patience time.Duration) {
	w.t.Helper()
	w.Within(patience).Eventually("the guestbook becomes Ready", w.ready)
	w.AwaitQuiet(w.t, w.operator)
}

// written counts what the operator wrote to children since the mark, by object.
func written(calls audit.Calls) map[string]int {
	count := map[string]int{}
	for _, call := range calls.Writes() {
		count[call.Verb+" "+call.Resource+"/"+call.Name]++
	}
	return count
}
