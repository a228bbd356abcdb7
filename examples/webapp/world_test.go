package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	v1 "github.com/operkit/operkit/examples/webapp/api/v1"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const patience = 60 * time.Second

// firstRelease is what the channel names at the beginning.
const firstRelease = "1.4.2"

var (
	services    = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	children    = []schema.GroupVersionKind{configMaps, services, deployments}
)

// world is a real control plane with two namespaces and an operator's user in it, a release channel, and somebody else who
// looks and meddles. Each operator serves every WebApp of the cluster, whichever namespaces it watches: so tests run one
// after the other, and each takes its WebApp away.
type world struct {
	*envtest.Env
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
	w := &world{Env: env, t: t, operator: env.User(t, "operator", envtest.RolesIn("config/rbac/role.yaml")), channel: newReleases(t, firstRelease)}
	w.config = env.Kubeconfig(t, w.operator)
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	w.api = api
	w.app = w.Namespace
	w.staging, w.production = w.namespace("staging"), w.namespace("production")
	t.Cleanup(func() { w.delete(v1.WebAppKind, "", w.app) })
	return w
}

// namespace makes a namespace that no other test has.
func (w *world) namespace(name string) string {
	w.t.Helper()
	name = w.Namespace + "-" + name
	_, err := w.api.Port().Create(w.t.Context(), object(namespaces, "", name), deploy.CreateOptions{FieldManager: "somebody"})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { w.delete(namespaces, "", name) })
	return name
}

func object(kind schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(kind)
	obj.SetNamespace(namespace)
	obj.SetName(name)
	return obj
}

// create makes the WebApp, with a stage in each of these namespaces.
func (w *world) create(stages ...string) {
	w.t.Helper()
	app := object(v1.WebAppKind, "", w.app)
	list := make([]any, len(stages))
	for i, stage := range stages {
		list[i] = map[string]any{"namespace": stage}
	}
	app.Object["spec"] = map[string]any{"image": "hello", "channel": w.channel.URL, "stages": list}
	w.put(app)
}

// put has an object be as it is given.
func (w *world) put(obj *unstructured.Unstructured) {
	w.t.Helper()
	_, err := w.api.Port().Apply(w.t.Context(), obj, deploy.ApplyOptions{FieldManager: "somebody"})
	require.NoError(w.t, err)
}

// get reads an object from the API server, nil when there is none.
func (w *world) get(kind schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	w.t.Helper()
	obj, err := w.api.View().Get(w.t.Context(), deploy.Ref{Kind: kind, Namespace: namespace, Name: name})
	require.NoError(w.t, err)
	return obj
}

func (w *world) delete(kind schema.GroupVersionKind, namespace, name string) {
	w.t.Helper()
	// The end of a test deletes too.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.t.Context()), patience)
	defer cancel()
	err := w.api.Port().Delete(ctx, deploy.Ref{Kind: kind, Namespace: namespace, Name: name}, deploy.DeleteOptions{})
	var absent *deploy.NotFoundError
	if !errors.As(err, &absent) {
		require.NoError(w.t, err)
	}
}

// merge edits the WebApp as somebody else.
func (w *world) merge(body string) {
	w.t.Helper()
	patch := deploy.Patch{Type: types.MergePatchType, Body: []byte(body), FieldManager: "somebody"}
	_, err := w.api.Port().Patch(w.t.Context(), deploy.Ref{Kind: v1.WebAppKind, Name: w.app}, patch)
	require.NoError(w.t, err)
}

// child is an object of a stage, nil when there is none.
func (w *world) child(kind schema.GroupVersionKind, namespace string) *unstructured.Unstructured {
	w.t.Helper()
	return w.get(kind, namespace, w.app+"-web")
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
	app := w.get(v1.WebAppKind, "", w.app)
	require.NotNil(w.t, app)
	if c, ok := status.Conditions(app).Get(conditionType); ok && c.ObservedGeneration == app.GetGeneration() {
		return c
	}
	return metav1.Condition{}
}

// settled waits until the WebApp is Ready as it is now, and the operator has stopped writing.
func (w *world) settled() {
	w.t.Helper()
	w.eventually("the WebApp becomes Ready", func() bool {
		return w.condition(status.ConditionReady).Status == metav1.ConditionTrue &&
			w.condition(status.ConditionUpdating).Reason == string(status.UpdatingStable)
	})
	w.quiet()
}

// quiet waits until the operator hasn't written for a while.
func (w *world) quiet() {
	w.t.Helper()
	last := -1
	w.poll("the operator stops writing", 400*time.Millisecond, func() bool {
		now := len(w.Calls(w.t, w.operator).Writes())
		same := now == last
		last = now
		return same
	})
}

func (w *world) eventually(what string, condition func() bool) {
	w.t.Helper()
	w.poll(what, 10*time.Millisecond, condition)
}

// poll asks condition, on the test's own goroutine, until it holds.
func (w *world) poll(what string, interval time.Duration, condition func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(interval) {
		if time.Now().After(deadline) {
			w.t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// polled waits until the channel was asked so many times more.
func (w *world) polled(times int) {
	w.t.Helper()
	before := w.channel.count()
	w.eventually("the channel is asked", func() bool { return w.channel.count() >= before+times })
}

// written are the writes to children in their order, such as "patch deployments in staging".
func (w *world) written(calls audit.Calls) (writes []string) {
	for _, call := range calls.Of("configmaps", "services", "deployments.apps").Writes() {
		writes = append(writes, call.Verb+" "+call.Resource+" in "+strings.TrimPrefix(call.Namespace, w.Namespace+"-"))
	}
	return writes
}
