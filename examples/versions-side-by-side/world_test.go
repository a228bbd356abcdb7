package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	v110 "github.com/operkit/operkit/examples/versions-side-by-side/v1.1.0"
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

var (
	sites           = v110.Site{}.Kind()
	configMaps      = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	services        = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	serviceAccounts = schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}
	deployments     = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	replicaSets     = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}
	events          = schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"}

	rendered = []schema.GroupVersionKind{configMaps, services, serviceAccounts, deployments}
)

// consistsOf is what a site is made of in each release.
var consistsOf = map[string][]string{
	"1.0.0": {"ConfigMap/%s-page", "Deployment/%s", "ServiceAccount/%s"},
	"1.1.0": {"ConfigMap/%s-content", "Deployment/%s", "Service/%s", "ServiceAccount/%s"},
}

// world is a namespace of a real control plane, the user of an operator, and somebody else, who makes sites.
type world struct {
	*envtest.Env
	t        *testing.T
	operator *envtest.User
	config   string
	api      *cluster.Cluster
}

func newWorld(t *testing.T) *world {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("config/crd"))
	w := &world{Env: env, t: t, operator: env.User(t, "operator", envtest.RolesIn("config/rbac"))}
	w.config = env.Kubeconfig(t, w.operator)
	api, err := cluster.New(t.Context(), env.Admin, cluster.Namespaces(env.Namespace))
	require.NoError(t, err)
	w.api = api
	return w
}

func (w *world) ref(kind schema.GroupVersionKind, name string) deploy.Ref {
	return deploy.Ref{Kind: kind, Namespace: w.Namespace, Name: name}
}

// get reads an object from the API server, nil when there is none.
func (w *world) get(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	w.t.Helper()
	obj, err := w.api.Port().Get(w.t.Context(), w.ref(kind, name))
	var absent *deploy.NotFoundError
	if errors.As(err, &absent) {
		return nil
	}
	require.NoError(w.t, err)
	return obj
}

func (w *world) list(kind schema.GroupVersionKind) []*unstructured.Unstructured {
	w.t.Helper()
	objects, err := w.api.Port().List(w.t.Context(), kind, w.Namespace, deploy.ListOptions{})
	require.NoError(w.t, err)
	return objects
}

// create makes a site, of which spec is the rest.
func (w *world) create(name, version string, spec ...string) {
	w.t.Helper()
	site := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"version": version, "text": "This is " + name}}}
	site.SetGroupVersionKind(sites)
	site.SetNamespace(w.Namespace)
	site.SetName(name)
	_, err := w.api.Port().Create(w.t.Context(), site, deploy.CreateOptions{FieldManager: "somebody"})
	require.NoError(w.t, err)
	for _, body := range spec {
		w.edit(name, body)
	}
}

// edit changes the specification of a site.
func (w *world) edit(name, spec string) {
	w.t.Helper()
	_, err := w.api.Port().Patch(w.t.Context(), w.ref(sites, name), deploy.Patch{
		Type: types.MergePatchType, Body: []byte(`{"spec":` + spec + `}`), FieldManager: "somebody",
	})
	require.NoError(w.t, err)
}

// upgrade says which version a site is to have.
func (w *world) upgrade(name, version string) {
	w.t.Helper()
	w.edit(name, fmt.Sprintf(`{"version":%q}`, version))
}

func (w *world) eventually(what string, condition func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// conditionOf is one of a site's, the zero one as long as it speaks of an earlier generation.
func conditionOf(site *unstructured.Unstructured, conditionType string) metav1.Condition {
	condition, _ := status.Conditions(site).Get(conditionType)
	if condition.ObservedGeneration != site.GetGeneration() {
		return metav1.Condition{}
	}
	return condition
}

// isIn tells whether a site is ready in a version.
func isIn(site *unstructured.Unstructured, version string) bool {
	return versionOf(site) == version && conditionOf(site, status.ConditionReady).Reason == string(status.ReadyStable) &&
		conditionOf(site, status.ConditionUpdating).Reason == string(status.UpdatingStable)
}

// versionOf is the one that a site was last brought to.
func versionOf(site *unstructured.Unstructured) string {
	content, _ := site.Object["status"].(map[string]any)
	return status.ReconciledVersion(content)
}

// settled waits until all sites that there are are ready in a version.
func (w *world) settled(version string) {
	w.t.Helper()
	w.eventually("all sites are in "+version, func() bool {
		for _, site := range w.list(sites) {
			if !isIn(site, version) {
				return false
			}
		}
		return true
	})
}

// objects are those of a site by kind and name, with their uids.
func (w *world) objects(site string) map[string]types.UID {
	w.t.Helper()
	found := map[string]types.UID{}
	for _, kind := range rendered {
		for _, obj := range w.list(kind) {
			if obj.GetLabels()["site"] == site {
				found[obj.GetKind()+"/"+obj.GetName()] = obj.GetUID()
			}
		}
	}
	return found
}

// names are what objects are called.
func names(objects map[string]types.UID) []string { return slices.Collect(maps.Keys(objects)) }

// wanted are the names of the objects of a site in a version.
func wanted(site, version string) (names []string) {
	for _, pattern := range consistsOf[version] {
		names = append(names, fmt.Sprintf(pattern, site))
	}
	return names
}

// written counts what the operator wrote since the mark, by what it is, but for events.
func (w *world) written(since envtest.Mark) map[string]int {
	w.t.Helper()
	count := map[string]int{}
	for _, call := range w.writes(since) {
		count[strings.TrimSuffix(call.Verb+" "+call.Resource+"/"+call.Name+"/"+call.Subresource, "/")]++
	}
	return count
}

func (w *world) writes(since envtest.Mark) audit.Calls {
	w.t.Helper()
	return w.CallsSince(w.t, since, w.operator).Writes().Filter(func(call audit.Call) bool { return call.Resource != "events" })
}

// quiet waits until the operator hasn't written for a while.
func (w *world) quiet() {
	w.t.Helper()
	for mark := w.Mark(w.t); ; mark = w.Mark(w.t) {
		time.Sleep(500 * time.Millisecond)
		if len(w.writes(mark)) == 0 {
			return
		}
	}
}
