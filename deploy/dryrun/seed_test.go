package dryrun_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestSeeds(t *testing.T) {
	t.Parallel()
	seed := object(t, `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  uid: given
  generation: 7
  creationTimestamp: "2029-01-01T00:00:00Z"
  resourceVersion: "999"
  finalizers: [shop/hold]
  managedFields: [{manager: m, operation: Apply, apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:replicas": {}}}}]
spec: {replicas: 1}
status: {readyReplicas: 1}
`)
	cluster := newCluster(t, dryrun.Objects(cart(t, "{}")), dryrun.Objects(seed))
	obj := get(t, cluster, deploy.RefOf(seed))
	want := seed.DeepCopy()
	want.SetResourceVersion("2")
	assert.Equal(t, want, obj, "deploy 29: seeds are stored as they are, but for the version")
	filled := get(t, cluster, cartRef)
	assert.NotEmpty(t, filled.GetUID())
	created := filled.GetCreationTimestamp()
	assert.False(t, created.IsZero())
	assert.EqualValues(t, 1, filled.GetGeneration())
}

func TestObjectsContinueInAnotherCluster(t *testing.T) {
	t.Parallel()
	first := newCluster(t)
	apply(t, first, "operkit", settings(t, "{a: '1'}"))
	other := settings(t, "{}")
	other.SetName("another")
	apply(t, first, "operkit", other)
	second := newCluster(t, dryrun.Objects(first.Objects()...))
	assert.Equal(t, first.Objects(), second.Objects(), "in the order of creation")
	third := settings(t, "{}")
	third.SetName("third")
	added := apply(t, second, "operkit", third)
	for _, obj := range first.Objects() {
		assert.NotEqual(t, obj.GetUID(), added.GetUID(), "a uid is made once")
	}
}

func TestBadSeeds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		manifests []string
		says      string
	}{
		"no kind":              {[]string{"{apiVersion: v1, metadata: {name: a, namespace: b}}"}, "kind is missing"},
		"no apiVersion":        {[]string{"{kind: ConfigMap, metadata: {name: a, namespace: b}}"}, "apiVersion is missing"},
		"no name":              {[]string{"{apiVersion: v1, kind: ConfigMap, metadata: {namespace: b}}"}, "metadata.name"},
		"no namespace":         {[]string{"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"}, "metadata.namespace"},
		"a namespace too many": {[]string{"{apiVersion: v1, kind: Node, metadata: {name: a, namespace: b}}"}, "metadata.namespace"},
		"a list":               {[]string{"{apiVersion: v1, kind: List, items: []}"}, "it is a list"},
		"twice":                {[]string{"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}"}, "given twice"},
		"one uid for two":      {[]string{"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b, uid: u}}", "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: b, uid: u}}"}, "its uid u is also the uid of ConfigMap b/a"},
		"dead already":         {[]string{`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b, deletionTimestamp: "2030-01-01T00:00:00Z"}}`}, "such an object is gone"},
		"bad managedFields":    {[]string{"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b, managedFields: [{}]}}"}, "metadata.managedFields"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seeds []*unstructured.Unstructured
			for _, manifest := range test.manifests {
				seeds = append(seeds, plainObject(t, manifest))
			}
			_, err := dryrun.New(dryrun.Namespaces("*"), dryrun.Objects(seeds...))
			var invalid *deploy.InvalidManifestError
			require.ErrorAs(t, err, &invalid)
			assert.ErrorContains(t, err, test.says)
		})
	}
	t.Run("deploy W24: in a namespace that isn't there", func(t *testing.T) {
		t.Parallel()
		_, err := dryrun.New(dryrun.Objects(settings(t, "{}")))
		require.ErrorContains(t, err, "namespace shop doesn't exist: pass it to Namespaces")
	})
	for name, seed := range map[string]*unstructured.Unstructured{"nil": nil, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := dryrun.New(dryrun.Namespaces("*"), dryrun.Objects(settings(t, "{}"), seed))
			require.ErrorContains(t, err, "object 2 of the cluster is nil")
		})
	}
}

func TestScope(t *testing.T) {
	t.Parallel()
	region := schema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Region"}
	cluster := newCluster(t, dryrun.AnyKind(region.GroupKind()))
	for kind, want := range map[schema.GroupVersionKind]deploy.Scope{
		configMap: deploy.Namespaced,
		namespace: deploy.ClusterScoped,
		region:    deploy.ClusterScoped,
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}: deploy.ClusterScoped,
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}:        deploy.Namespaced,
		{Group: "shop.example.com", Version: "v1", Kind: "Namespace"}:            deploy.Namespaced,
	} {
		scope, err := cluster.Port().Scope(t.Context(), kind)
		require.NoError(t, err)
		assert.Equal(t, want, scope, "deploy W1: %s", kind)
	}
	applied := apply(t, cluster, "operkit", object(t, "{apiVersion: shop.example.com/v1, kind: Region, metadata: {name: north}}"))
	assert.Empty(t, applied.GetNamespace())
}
