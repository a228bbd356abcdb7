package main

import (
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/cluster"
	v1 "github.com/operkit/operkit/examples/webapp/api/v1"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// firstRelease is what the channel names at the beginning.
const firstRelease = "1.4.2"

var (
	services    = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	children    = []schema.GroupVersionKind{configMaps, services, deployments}
)

// world is a real control plane with two namespaces and an operator's user in it, a release channel, and somebody else
// who looks and meddles. Each operator serves every WebApp of the cluster, whichever namespaces it watches: so tests
// run one after the other, and each takes its WebApp away.
type world struct {
	*envtest.Env
	*bystander.Bystander
	t        *testing.T
	operator *envtest.User
	config   string
	api      *cluster.Cluster
	channel  *releases
	// app is the name of the WebApp, staging and production are the namespaces of its stages.
	app, staging, production string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("config/crd"))
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	w := &world{
		Env: env, Bystander: bystander.New(t, api, env.Namespace, "somebody"), t: t, api: api, app: env.Namespace, channel: newReleases(t, firstRelease),
		operator: env.User(t, "operator", envtest.RolesIn("config/rbac/role.yaml")),
	}
	w.config = env.Kubeconfig(t, w.operator)
	w.staging, w.production = w.namespace("staging"), w.namespace("production")
	t.Cleanup(func() { w.Delete(v1.WebAppKind, w.app) })
	return w
}

// namespace makes a namespace that no other test has.
func (w *world) namespace(name string) string {
	w.t.Helper()
	name = w.Namespace + "-" + name
	w.Create(object(namespaces, name))
	w.t.Cleanup(func() { w.Delete(namespaces, name) })
	return name
}

// in is somebody in the namespace of a stage.
func (w *world) in(namespace string) *bystander.Bystander {
	return bystander.New(w.t, w.api, namespace, "somebody")
}

// start runs the operator until the test ends or stops it. It watches all namespaces: which ones it needs a WebApp
// says.
func (w *world) start() *program.Process {
	w.t.Helper()
	return program.Start(w.t, program.Command("run", "--kubeconfig", w.config, "--channel.interval", "50ms"))
}

func object(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(kind)
	obj.SetName(name)
	return obj
}

// create makes the WebApp, with a stage in each of these namespaces.
func (w *world) create(stages ...string) {
	w.t.Helper()
	app := object(v1.WebAppKind, w.app)
	list := make([]any, len(stages))
	for i, stage := range stages {
		list[i] = map[string]any{"namespace": stage}
	}
	app.Object["spec"] = map[string]any{"image": "hello", "channel": w.channel.URL, "stages": list}
	w.Apply(app)
}

// child is an object of a stage, nil when there is none.
func (w *world) child(kind schema.GroupVersionKind, namespace string) *unstructured.Unstructured {
	w.t.Helper()
	return w.in(namespace).Get(kind, w.app+"-web")
}

// out is the version that the Deployment of a stage runs, empty when there is none.
func (w *world) out(namespace string) string {
	w.t.Helper()
	deployment := w.child(deployments, namespace)
	if deployment == nil {
		return ""
	}
	containers, _, err := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	require.NoError(w.t, err)
	image, _ := containers[0].(map[string]any)["image"].(string)
	return strings.TrimPrefix(image, "hello:")
}

// condition reads a condition of the WebApp as it is now, the zero one as long as it speaks of an earlier generation.
func (w *world) condition(conditionType string) metav1.Condition {
	w.t.Helper()
	app := w.Get(v1.WebAppKind, w.app)
	require.NotNil(w.t, app)
	if c, ok := status.Conditions(app).Get(conditionType); ok && c.ObservedGeneration == app.GetGeneration() {
		return c
	}
	return metav1.Condition{}
}

// settled waits until the WebApp is Ready as it is now, and the operator has stopped writing.
func (w *world) settled() {
	w.t.Helper()
	w.Eventually("the WebApp becomes Ready", func() bool {
		return w.condition(status.ConditionReady).Status == metav1.ConditionTrue &&
			w.condition(status.ConditionUpdating).Reason == string(status.UpdatingStable)
	})
	w.AwaitQuiet(w.t, w.operator)
}

// polled waits until the channel was asked so many times more.
func (w *world) polled(times int) {
	w.t.Helper()
	before := w.channel.count()
	w.Eventually("the channel is asked", func() bool { return w.channel.count() >= before+times })
}

// written are the writes to children in their order, such as "patch deployments in staging".
func (w *world) written(calls audit.Calls) (writes []string) {
	for _, call := range calls.Of("configmaps", "services", "deployments.apps").Writes() {
		writes = append(writes, call.Verb+" "+call.Resource+" in "+strings.TrimPrefix(call.Namespace, w.Namespace+"-"))
	}
	return writes
}
