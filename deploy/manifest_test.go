package deploy_test

import (
	"encoding/base64"
	"math"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestInvalidManifests(t *testing.T) {
	t.Parallel()
	with := func(change func(obj *unstructured.Unstructured)) *unstructured.Unstructured {
		obj := settings(t, "{}")
		change(obj)
		return obj
	}
	for name, test := range map[string]struct {
		manifest *unstructured.Unstructured
		says     string
	}{
		"nil":                             {nil, "object without kind and name: invalid manifest: the object is nil"},
		"empty":                           {&unstructured.Unstructured{}, "the object is nil"},
		"deploy 7: no kind":               {object(t, "{apiVersion: v1, metadata: {name: a}}"), `object "a" without kind: invalid manifest: kind is missing`},
		"deploy 7: no apiVersion":         {object(t, "{kind: ConfigMap, metadata: {name: a}}"), "apiVersion is missing"},
		"deploy 7: no name":               {object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {}}"), "ConfigMap without name: invalid manifest: metadata.name is missing"},
		"an apiVersion of three parts":    {object(t, "{apiVersion: a/b/c, kind: ConfigMap, metadata: {name: x}}"), `apiVersion "a/b/c" isn't a group and version`},
		"generateName":                    {object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {generateName: a-}}"), "generateName can't be applied"},
		"a list":                          {object(t, "{apiVersion: v1, kind: List, items: []}"), "it is a list"},
		"no namespace":                    {object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"), "metadata.namespace is missing"},
		"deploy W1: a namespace too many": {object(t, "{apiVersion: v1, kind: Node, metadata: {name: a, namespace: b}}"), "its kind is cluster-scoped"},
		"metadata that is no map":         {object(t, "{apiVersion: v1, kind: ConfigMap, metadata: a}"), "metadata isn't a map"},
		"a namespace that is a number":    {object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: 2024}}"), "metadata.namespace isn't a string: quote it"},
		"a name that is a number":         {object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: 1, namespace: a}}"), "metadata.name isn't a string: quote it"},
		"stringData that is no text":      {object(t, "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: b}, stringData: {pin: 1234}}"), "stringData.pin isn't a string: quote it"},
		"a number as annotation":          {object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b, annotations: {x: 1}}}"), "quote its values"},
		"an empty annotation":             {object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b, annotations: {'': x}}}"), "an empty key"},
		"no JSON":                         {with(func(obj *unstructured.Unstructured) { obj.Object["data"] = map[string]string{"a": "b"} }), "data: map[string]string is not a JSON value"},
		"no JSON further below": {with(func(obj *unstructured.Unstructured) {
			obj.Object["data"] = []any{map[string]any{"a": struct{}{}}}
		}), "data[0].a: struct {} is not a JSON value"},
		"no JSON where copies are made": {with(func(obj *unstructured.Unstructured) {
			obj.Object["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]string{}}
		}), "metadata.ownerReferences[0]: map[string]string is not a JSON value"},
		"what contains itself": {with(func(obj *unstructured.Unstructured) {
			loop := map[string]any{}
			loop["self"] = []any{loop}
			obj.Object["data"] = loop
		}), "it is nested too deeply, or contains itself"},
		"not a number": {with(func(obj *unstructured.Unstructured) { obj.Object["data"] = math.NaN() }), "data: NaN is not a JSON value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			for _, m := range []*deploy.Manager{must(deploy.NewManager(cluster)), must(deploy.NewManager(cluster, deploy.DryRun()))} {
				result := apply(t, m, test.manifest)
				assert.Equal(t, deploy.Failed, result.Action)
				var invalid *deploy.InvalidManifestError
				require.ErrorAs(t, result.Err, &invalid)
				assert.ErrorContains(t, result.Err, test.says)
			}
			assert.Empty(t, cluster.take(), "nothing is sent")
		})
	}
	t.Run("an unknown kind", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		result := apply(t, must(deploy.NewManager(cluster)), object(t, "{apiVersion: shop.example.com/v1, kind: Unknown, metadata: {name: a}}"))
		assert.Equal(t, deploy.Failed, result.Action)
		var unknown *deploy.KindUnknownError
		require.ErrorAs(t, result.Err, &unknown)
		assert.Empty(t, cluster.take())
	})
}

func TestIntentIsWhatIsSent(t *testing.T) {
	t.Parallel()
	const annotation = "operkit.dev/applied-operkit"
	for name, test := range map[string]struct {
		manifest string
		options  []deploy.Option
		want     string
	}{
		"what the server sets goes": {
			manifest: `
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: shop
  uid: u
  resourceVersion: "7"
  generation: 7
  creationTimestamp: "2030-01-01T00:00:00Z"
  deletionTimestamp: "2030-01-01T00:00:00Z"
  deletionGracePeriodSeconds: 0
  selfLink: /x
  managedFields: [{manager: m}]
  labels: {a: b}
data: {a: b}
status: {ready: true}`,
			want: "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop, labels: {a: b}}, data: {a: b}}",
		},
		"deploy 5: what clients remember goes": {
			manifest: `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop, annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}", operkit.dev/applied-operkit: x}}}`,
			want:     "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop}}",
		},
		"deploy W6: but other annotations stay": {
			manifest: `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop, annotations: {a: b, operkit.dev/applied-other: x}}}`,
			want:     `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop, annotations: {a: b, operkit.dev/applied-other: x}}}`,
		},
		"nulls are no intent": {
			manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop, labels: null, annotations: null}, data: {a: null, b: [null, {c: null}]}}",
			want:     "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop}, data: {b: [null, {}]}}",
		},
		"empty and null annotations are none": {
			manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop, annotations: {a: null}}}",
			want:     "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop}}",
		},
		"the owner's namespace": {
			manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}",
			options:  []deploy.Option{deploy.OwnedBy(cart("c"))},
			want: `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop, ownerReferences:
				[{apiVersion: shop.example.com/v1, kind: Cart, name: c, uid: c-uid, blockOwnerDeletion: true}]}}`,
		},
		"stringData becomes data": {
			manifest: "{apiVersion: v1, kind: Secret, metadata: {name: settings, namespace: shop}, data: {a: b2xk, c: b2xk}, stringData: {a: new, b: other}}",
			want: "{apiVersion: v1, kind: Secret, metadata: {name: settings, namespace: shop}, data: {a: " + base64.StdEncoding.EncodeToString([]byte("new")) +
				", b: " + base64.StdEncoding.EncodeToString([]byte("other")) + ", c: b2xk}}",
		},
		"stringData without data": {
			manifest: "{apiVersion: v1, kind: Secret, metadata: {name: settings, namespace: shop}, stringData: {a: new}}",
			want:     "{apiVersion: v1, kind: Secret, metadata: {name: settings, namespace: shop}, data: {a: bmV3}}",
		},
		"stringData of a custom Secret": {
			manifest: "{apiVersion: shop.example.com/v1, kind: Secret, metadata: {name: settings, namespace: shop}, stringData: {a: new}}",
			want:     "{apiVersion: shop.example.com/v1, kind: Secret, metadata: {name: settings, namespace: shop}, stringData: {a: new}}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			m := must(deploy.NewManager(cluster, test.options...))
			require.NoError(t, apply(t, m, object(t, test.manifest)).Err)
			sent := cluster.applied(t)
			hash := sent.GetAnnotations()[annotation]
			assert.Len(t, hash, 24)
			want := object(t, test.want)
			annotations := want.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[annotation] = hash
			want.SetAnnotations(annotations)
			assert.Equal(t, want, sent)
			cluster.take()
			assert.Equal(t, deploy.Unchanged, apply(t, m, object(t, test.manifest)).Action)
			assert.Empty(t, cluster.take())
		})
	}
}

// Objects written in Go hold int where decoded ones hold int64 or float64.
func TestIntegersOfAnyType(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	m := must(deploy.NewManager(cluster))
	intent := func(replicas any) *unstructured.Unstructured {
		return widget(map[string]any{"replicas": replicas, "list": []any{replicas}})
	}
	require.NoError(t, apply(t, m, intent(3)).Err)
	cluster.take()
	for _, replicas := range []any{3, int32(3), int64(3), float64(3)} {
		result := apply(t, m, intent(replicas))
		assert.Equal(t, deploy.Unchanged, result.Action, "%T", replicas)
	}
	assert.Empty(t, cluster.take())
	assert.Equal(t, deploy.Configured, apply(t, m, intent(4)).Action)
}

// So do definitions that others wait for, and what can't be tried yet.
func TestIntegersOfAnyTypeBeforeTheyAreSent(t *testing.T) {
	t.Parallel()
	definition := object(t, widgets)
	versions, _, err := unstructured.NestedFieldNoCopy(definition.Object, "spec", "versions")
	require.NoError(t, err)
	versions.([]any)[0].(map[string]any)["schema"] = map[string]any{"openAPIV3Schema": map[string]any{
		"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string", "maxLength": 63}},
	}}
	results, err := must(deploy.NewManager(newCluster(t))).Apply(t.Context(), objects(definition, widget(map[string]any{"replicas": 3})))
	require.NoError(t, err)
	assert.Equal(t, []deploy.Action{deploy.Created, deploy.Created}, actions(results))

	t.Run("a kind that comes with the set", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		cluster.unserved = func(kind string) bool { return kind == "Widget" }
		differences, err := must(deploy.NewManager(cluster)).Diff(t.Context(), objects(definition, widget(map[string]any{"replicas": 3})))
		require.NoError(t, err)
		assert.Contains(t, differences[1].Unified, "+  replicas: 3\n")
		differences, err = must(deploy.NewManager(cluster)).Diff(t.Context(), objects(definition, widget(map[string]any{"replicas": math.NaN()})))
		require.EqualError(t, err, "Widget shop/w: invalid manifest: spec.replicas: NaN is not a JSON value")
		assert.Equal(t, deploy.Failed, differences[1].Action)
	})
	t.Run("a namespace that comes with the set", func(t *testing.T) {
		t.Parallel()
		obj := web(t, "{}")
		obj.Object["spec"] = map[string]any{"replicas": 3}
		cluster := newCluster(t)
		cluster.before = failing("apply Deployment", &deploy.NotFoundError{Ref: deploy.RefOf(obj), Err: errNo})
		differences, err := must(deploy.NewManager(cluster)).Diff(t.Context(), objects(object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"), obj))
		require.NoError(t, err)
		assert.Contains(t, differences[1].Unified, "+  replicas: 3\n")
	})
}

func TestInputsAreNotChanged(t *testing.T) {
	t.Parallel()
	manifest := object(t, `
apiVersion: v1
kind: Secret
metadata:
  name: settings
  uid: u
  resourceVersion: "7"
  labels: null
  annotations: {a: b, kubectl.kubernetes.io/last-applied-configuration: x}
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: x, uid: x}]
data: {a: b2xk, c: null}
stringData: {a: new}
status: {ready: true}`)
	owner := cart("c")
	keptManifest, keptOwner := manifest.DeepCopy(), owner.DeepCopy()
	cluster := newCluster(t)
	m := must(deploy.NewManager(cluster, deploy.OwnedBy(owner)))
	for range 3 {
		require.NoError(t, apply(t, m, manifest).Err)
		cluster.edit(t, deploy.Ref{Kind: secret, Namespace: "shop", Name: "settings"}, `{"data":{"a":"eA=="}}`)
	}
	_, err := m.Gone(t.Context(), objects(manifest))
	require.NoError(t, err)
	_, err = m.Locate(t.Context(), manifest)
	require.NoError(t, err)
	_, err = m.Delete(t.Context(), objects(manifest))
	require.NoError(t, err)
	assert.Equal(t, keptManifest, manifest, "deploy W11")
	assert.Equal(t, keptOwner, owner, "deploy W11")
}
