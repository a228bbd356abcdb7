package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/cluster"
	v1 "github.com/operkit/operkit/examples/catset/api/v1"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The resources whose calls are counted.
var counted = []string{"catsets.examples.operkit.dev", "pods", "services", "persistentvolumeclaims"}

// world is a namespace of a real control plane in which the operator runs, as a user with the rights of the role that
// is shipped and no other, and somebody else who looks and meddles.
type world struct {
	*envtest.Env
	*bystander.Bystander
	t        *testing.T
	operator *envtest.User
	process  *program.Process
}

func newWorld(t *testing.T) *world {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("config/crd"))
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	w := &world{Env: env, Bystander: bystander.New(t, api, env.Namespace, "somebody"), t: t,
		operator: env.User(t, "operator", envtest.RolesIn("config/rbac/role.yaml"))}
	w.start()
	return w
}

// onAPIServer returns a harness with a namespace of a real control plane.
func onAPIServer(t *testing.T, controller watch.Controller, options ...reconciletest.Option) (h *reconciletest.Harness, namespace string) {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("config/crd"))
	ctx, cancel := context.WithCancel(t.Context())
	c, err := cluster.New(ctx, env.Config, cluster.Namespaces(env.Namespace), cluster.Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	t.Cleanup(func() {
		cancel()
		c.Wait()
	})
	options = append(options, reconciletest.On(c, time.Second), reconciletest.Namespace(env.Namespace))
	return reconciletest.Drive(t, controller, options...), env.Namespace
}

func (w *world) start() {
	w.t.Helper()
	w.process = program.Start(w.t, program.Command("run", "--namespace", w.Namespace, "--kubeconfig", w.Kubeconfig(w.t, w.operator)))
}

// completeWorld returns a world in which all Pods of the sample are ready.
func completeWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.CreateFile("config/sample.yaml")
	w.complete("3 ready 3 updated 3")
	return w
}

// edit edits the set by a JSON merge patch.
func (w *world) edit(patch string) {
	w.t.Helper()
	w.Merge(v1.CatSetKind, "nginx", patch)
}

// counts returns the numbers in the status, and the condition. They are empty if the status is about an earlier
// generation.
func (w *world) counts() (numbers string, ready metav1.Condition) {
	w.t.Helper()
	set := w.Get(v1.CatSetKind, "nginx")
	fields, _ := set.Object["status"].(map[string]any)
	if fields["observedGeneration"] != set.GetGeneration() {
		return "", ready
	}
	ready, _ = status.Conditions(set).Get("Ready")
	return fmt.Sprint(fields["replicas"], " ready ", fields["ready"], " updated ", fields["updated"]), ready
}

// complete waits until the status has these numbers and is Ready, and the operator has nothing left to do.
func (w *world) complete(want string) {
	w.t.Helper()
	w.Eventually("the set is complete: "+want, func() bool {
		numbers, ready := w.counts()
		return numbers == want && ready.Status == metav1.ConditionTrue
	})
	w.AwaitQuiet(w.t, w.operator)
}

// stops waits until the condition Ready has this message, and the operator has nothing left to do.
func (w *world) stops(message string) {
	w.t.Helper()
	w.Eventually("the set says: "+message, func() bool {
		_, ready := w.counts()
		return ready.Message == message
	})
	w.AwaitQuiet(w.t, w.operator)
}

// gone waits until an object is gone.
func (w *world) gone(kind schema.GroupVersionKind, name string) {
	w.t.Helper()
	w.Eventually(kind.Kind+" "+name+" is gone", func() bool { return w.Get(kind, name) == nil })
}

// writes returns the writes of the operator since a mark in their order, without those of the status.
func (w *world) writes(mark envtest.Mark) (all []string) {
	w.t.Helper()
	w.AwaitQuiet(w.t, w.operator)
	for _, call := range w.CallsSince(w.t, mark, w.operator).Of(counted...).Writes() {
		if call.Subresource == "" {
			all = append(all, fmt.Sprintf("%s %s %s", call.Verb, strings.TrimSuffix(call.Resource, "s"), call.Name))
		}
	}
	return all
}
