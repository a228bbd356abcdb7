package dryrun_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const webHead = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n"

// containers returns the containers of a Deployment.
func containers(t testing.TB, obj *unstructured.Unstructured) []any {
	t.Helper()
	list, _, err := unstructured.NestedSlice(obj.Object, "spec", "template", "spec", "containers")
	require.NoError(t, err)
	return list
}

// Lists of the kinds of Kubernetes merge by their keys.
func TestKubernetesKindsMergeByTheirSchema(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	apply(t, cluster, "operkit", object(t, webHead+"spec: {template: {spec: {containers: [{name: web, image: a, ports: [{containerPort: 80}]}]}}}"))
	obj := apply(t, cluster, "injector", object(t, webHead+"spec: {template: {spec: {containers: [{name: sidecar, image: b}]}}}"))
	assert.Len(t, containers(t, obj), 2, "deploy W3: a container injected by another stays")
	obj = apply(t, cluster, "operkit", object(t, webHead+"spec: {template: {spec: {containers: [{name: web, image: a2, ports: [{containerPort: 80}]}]}}}"))
	assert.Equal(t, []any{
		map[string]any{"name": "web", "image": "a2", "ports": []any{map[string]any{"containerPort": int64(80)}}},
		map[string]any{"name": "sidecar", "image": "b"},
	}, containers(t, obj))
	assert.Equal(t, `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:image":{},"f:name":{},`+
		`"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}}}}}}`,
		owned(obj, "operkit", "Apply", ""), "a key that is absent has its default")
}

func TestStrictFields(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		manifest string
		want     []deploy.InvalidField
	}{
		"a field that nobody knows":     {webHead + "spec: {replica: 1}", []deploy.InvalidField{{Field: "spec.replica", Message: "field not declared in schema"}}},
		"further below":                 {webHead + "spec: {template: {spec: {containers: [{name: a, imagee: b}]}}}", []deploy.InvalidField{{Field: `spec.template.spec.containers[name="a"].imagee`, Message: "field not declared in schema"}}},
		"a status where there is none":  {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}, status: {a: b}}", []deploy.InvalidField{{Field: "status", Message: "field not declared in schema"}}},
		"text where a number has to be": {webHead + "spec: {replicas: many}", []deploy.InvalidField{{Field: "spec.replicas", Message: "expected numeric (int or float), got string"}}},
		"an element twice":              {webHead + "spec: {template: {spec: {containers: [{name: a}, {name: a}]}}}", []deploy.InvalidField{{Field: "spec.template.spec.containers", Message: `duplicate entries for key [name="a"]`}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			_, err := cluster.Port().Apply(t.Context(), object(t, test.manifest), deploy.ApplyOptions{FieldManager: "operkit"})
			var invalid *deploy.InvalidError
			require.ErrorAs(t, err, &invalid)
			assert.Equal(t, test.want, invalid.Causes)
			assert.Empty(t, cluster.Objects())
		})
	}
	t.Run("a patch leaves out what isn't known, as a server does", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		before := apply(t, cluster, "operkit", object(t, webHead+"spec: {replicas: 1}"))
		after := merge(t, cluster, deploy.RefOf(before), "kubectl", `{"spec":{"replica":5},"else":1}`)
		assert.Equal(t, before, after, "deploy W18: nothing is left to change")
	})
}

// Without AnyKind a cluster serves what a server does.
func TestUnknownKinds(t *testing.T) {
	t.Parallel()
	cluster, err := dryrun.New()
	require.NoError(t, err)
	ref := cartRef
	want := &deploy.KindUnknownError{Kind: ref.Kind}
	for name, call := range map[string]func() error{
		"Scope": func() error { _, err := cluster.Port().Scope(t.Context(), ref.Kind); return err },
		"Get":   func() error { _, err := cluster.Port().Get(t.Context(), ref); return err },
		"List": func() error {
			_, err := requests(cluster).List(t.Context(), ref.Kind, "", deploy.ListOptions{})
			return err
		},
		"Apply": func() error {
			_, err := cluster.Port().Apply(t.Context(), cart(t, "{}"), deploy.ApplyOptions{FieldManager: "m"})
			return err
		},
		"Create": func() error {
			_, err := requests(cluster).Create(t.Context(), cart(t, "{}"), deploy.CreateOptions{})
			return err
		},
		"Update": func() error {
			obj := cart(t, "{}")
			obj.SetResourceVersion("1")
			_, err := requests(cluster).Update(t.Context(), obj, deploy.UpdateOptions{})
			return err
		},
		"Patch": func() error {
			_, err := cluster.Port().Patch(t.Context(), ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte("{}")})
			return err
		},
		"Delete":    func() error { return cluster.Port().Delete(t.Context(), ref, deploy.DeleteOptions{}) },
		"View.Get":  func() error { _, err := cluster.View().Get(t.Context(), ref); return err },
		"View.List": func() error { _, err := cluster.View().List(t.Context(), ref.Kind, "", nil); return err },
		"Subscribe": func() error {
			_, err := cluster.View().Subscribe(t.Context(), ref.Kind, func(deploy.Event) {})
			return err
		},
		"New": func() error { _, err := dryrun.New(dryrun.Namespaces("*"), dryrun.Objects(cart(t, "{}"))); return err },
		"an unserved beta": func() error {
			_, err := cluster.Port().Scope(t.Context(), schema.GroupVersionKind{Group: "apps", Version: "v1beta1", Kind: "Deployment"})
			if err != nil {
				return want
			}
			return nil
		},
	} {
		err := call()
		var unknown *deploy.KindUnknownError
		require.ErrorAs(t, err, &unknown, name)
		assert.Equal(t, want, unknown, name)
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, dryrun.Objects(cart(t, "{}")))
	for name, want := range map[string][]schema.GroupVersionKind{
		"Deployment":      {deployment},
		"deployments":     {deployment},
		"deploy":          {deployment},
		"cm":              {configMap},
		"endpoints":       {{Version: "v1", Kind: "Endpoints"}},
		"Event":           {{Version: "v1", Kind: "Event"}, {Group: "events.k8s.io", Version: "v1", Kind: "Event"}},
		"hpa":             {{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}},
		"networkpolicies": {{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"}},
		"ingressclass":    {{Group: "networking.k8s.io", Version: "v1", Kind: "IngressClass"}},
		"Cart":            {cartRef.Kind},
		"carts":           {cartRef.Kind},
		"cart":            {cartRef.Kind},
		"CART":            nil,
		"":                nil,
	} {
		kinds, err := requests(cluster).Kinds(t.Context(), name)
		require.NoError(t, err)
		assert.ElementsMatch(t, want, kinds, "deploy 4: %s", name)
	}
}

// Every kind of Kubernetes can be created, and knows its own fields.
func TestEveryKindOfKubernetes(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	for _, name := range []string{"Pod", "Service", "Role", "CustomResourceDefinition", "APIService", "StorageClass", "Lease", "CronJob"} {
		kinds, err := requests(cluster).Kinds(t.Context(), name)
		require.NoError(t, err)
		require.Len(t, kinds, 1, name)
		scope, err := cluster.Port().Scope(t.Context(), kinds[0])
		require.NoError(t, err)
		obj := &unstructured.Unstructured{}
		obj.SetGroupVersionKind(kinds[0])
		obj.SetName("a")
		if scope == deploy.Namespaced {
			obj.SetNamespace("shop")
		}
		obj.Object["nonsense"] = true
		_, err = cluster.Port().Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: "m"})
		var invalid *deploy.InvalidError
		require.ErrorAs(t, err, &invalid, name)
		assert.Equal(t, "nonsense", invalid.Causes[0].Field, name)
	}
}
