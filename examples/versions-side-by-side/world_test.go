package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy/bystander"
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
	*bystander.Bystander
	t        *testing.T
	operator *envtest.User
	api      *cluster.Cluster
}

func newWorld(t *testing.T) *world {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("config/crd"))
	api, err := cluster.New(t.Context(), env.Admin, cluster.Namespaces(env.Namespace))
	require.NoError(t, err)
	return &world{env, bystander.New(t, api, env.Namespace, "somebody"), t, env.User(t, "operator", envtest.RolesIn("config/rbac")), api}
}

// create makes a site, of which spec is the rest.
func (w *world) create(name, version string, spec ...string) {
	w.t.Helper()
	site := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"version": version, "text": "This is " + name}}}
	site.SetGroupVersionKind(sites)
	site.SetName(name)
	w.Create(site)
	for _, body := range spec {
		w.edit(name, body)
	}
}

// edit changes the specification of a site.
func (w *world) edit(name, spec string) {
	w.t.Helper()
	w.Merge(sites, name, `{"spec":`+spec+`}`)
}

// upgrade says which version a site is to have.
func (w *world) upgrade(name, version string) {
	w.t.Helper()
	w.edit(name, fmt.Sprintf(`{"version":%q}`, version))
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
	w.Eventually("all sites are in "+version, func() bool {
		for _, site := range w.List(sites) {
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
		for _, obj := range w.List(kind) {
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
