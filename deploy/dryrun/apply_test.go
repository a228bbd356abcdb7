package dryrun_test

import (
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestApplyCreates(t *testing.T) {
	t.Parallel()
	clock := newClock()
	cluster := newCluster(t, dryrun.Clock(clock.Now))
	applied, err := cluster.Port().Apply(t.Context(), settings(t, "{a: '1'}"), deploy.ApplyOptions{FieldManager: "operkit"})
	require.NoError(t, err)
	assert.True(t, applied.Created)
	obj := applied.Object
	assert.NotEmpty(t, obj.GetUID())
	assert.Equal(t, "1", obj.GetResourceVersion())
	assert.Zero(t, obj.GetGeneration(), "a ConfigMap counts none")
	assert.EqualValues(t, 1, apply(t, newCluster(t), "operkit", cart(t, "{size: 1}")).GetGeneration())
	created := obj.GetCreationTimestamp()
	assert.True(t, clock.now.Equal(created.Time), "creationTimestamp %s", created)
	assert.Equal(t, `{"f:data":{"f:a":{}}}`, owned(obj, "operkit", "Apply", ""))
	require.Len(t, obj.GetManagedFields(), 1)
	assert.True(t, clock.now.Equal(obj.GetManagedFields()[0].Time.Time), "the manager's time is the cluster's")
	assert.Equal(t, obj, get(t, cluster, deploy.RefOf(obj)))
}

func TestApplyKeepsIdentity(t *testing.T) {
	t.Parallel()
	clock := newClock()
	cluster := newCluster(t, dryrun.Clock(clock.Now))
	first := apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
	clock.now = clock.now.Add(time.Hour)

	t.Run("deploy W18: a write that changes nothing keeps the version", func(t *testing.T) {
		same := apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
		assert.Equal(t, first, same, "not even the manager's time moves")
	})
	second := apply(t, cluster, "operkit", settings(t, "{a: '2'}"))
	t.Run("deploy W16: uid and creationTimestamp stay", func(t *testing.T) {
		assert.Equal(t, first.GetUID(), second.GetUID())
		assert.Equal(t, first.GetCreationTimestamp(), second.GetCreationTimestamp())
	})
	t.Run("deploy W16: generation rises with the content only", func(t *testing.T) {
		counting := newCluster(t)
		apply(t, counting, "operkit", cart(t, "{size: 1}"))
		assert.EqualValues(t, 2, apply(t, counting, "operkit", cart(t, "{size: 2}")).GetGeneration())
		labelled := merge(t, counting, cartRef, "kubectl", `{"metadata":{"labels":{"a":"b"}}}`)
		assert.EqualValues(t, 2, labelled.GetGeneration())
	})
	t.Run("deploy W18: versions rise over all objects", func(t *testing.T) {
		other := settings(t, "{}")
		other.SetName("other")
		assert.Equal(t, "3", apply(t, cluster, "operkit", other).GetResourceVersion())
	})
	t.Run("the manager's time moves with a change", func(t *testing.T) {
		assert.True(t, clock.now.Equal(second.GetManagedFields()[0].Time.Time))
	})
}

func TestApplyOwnsFields(t *testing.T) {
	t.Parallel()
	ref := deploy.Ref{Kind: configMap, Namespace: "shop", Name: "settings"}

	t.Run("a field left out is removed, those of others stay", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		apply(t, cluster, "operkit", settings(t, "{a: '1', b: '2'}"))
		merge(t, cluster, ref, "kubectl", `{"data":{"c":"3"}}`)
		obj := apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
		assert.Equal(t, map[string]string{"a": "1", "c": "3"}, data(obj))
		assert.Equal(t, `{"f:data":{"f:a":{}}}`, owned(obj, "operkit", "Apply", ""))
		assert.Equal(t, `{"f:data":{"f:c":{}}}`, owned(obj, "kubectl", "Update", ""))
	})
	t.Run("a field that two apply stays until both leave it out", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
		apply(t, cluster, "other", settings(t, "{a: '1'}"))
		assert.Equal(t, map[string]string{"a": "1"}, data(apply(t, cluster, "operkit", settings(t, "{}"))))
		assert.Empty(t, data(apply(t, cluster, "other", settings(t, "{}"))))
	})
	t.Run("another's value is a conflict that names field and holder", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		before := apply(t, cluster, "other", settings(t, "{a: '1'}"))
		_, err := cluster.Port().Apply(t.Context(), settings(t, "{a: '2', b: '2'}"), deploy.ApplyOptions{FieldManager: "operkit"})
		var conflict *deploy.ConflictError
		require.ErrorAs(t, err, &conflict)
		assert.Equal(t, []deploy.FieldConflict{{Field: ".data.a", Manager: "other", Message: `conflict with "other"`}}, conflict.Fields)
		assert.Equal(t, before, get(t, cluster, ref), "nothing is written")
	})
	t.Run("force takes the field over", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		apply(t, cluster, "other", settings(t, "{a: '1', b: '1'}"))
		obj := force(t, cluster, "operkit", settings(t, "{a: '2'}"))
		assert.Equal(t, map[string]string{"a": "2", "b": "1"}, data(obj))
		assert.Equal(t, `{"f:data":{"f:a":{}}}`, owned(obj, "operkit", "Apply", ""))
		assert.Equal(t, `{"f:data":{"f:b":{}}}`, owned(obj, "other", "Apply", ""))
	})
	t.Run("a value changed by another takes the field from us", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		apply(t, cluster, "operkit", settings(t, "{a: '1', b: '1'}"))
		obj := merge(t, cluster, ref, "kubectl", `{"data":{"a":"9","b":null}}`)
		assert.Nil(t, owned(obj, "operkit", "Apply", ""), "a is kubectl's, b nobody's")
		obj = force(t, cluster, "operkit", settings(t, "{a: '1', b: '1'}"))
		assert.Equal(t, `{"f:data":{"f:a":{},"f:b":{}}}`, owned(obj, "operkit", "Apply", ""))
		assert.Nil(t, owned(obj, "kubectl", "Update", ""), "an emptied entry disappears")
	})
	t.Run("what was there before the first apply belongs to before-first-apply", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, dryrun.Objects(settings(t, "{a: '1'}")))
		obj := apply(t, cluster, "operkit", settings(t, "{b: '1'}"))
		assert.Equal(t, `{"f:data":{".":{},"f:a":{}}}`, owned(obj, "before-first-apply", "Update", ""))
	})
}

func TestApplyMergesLists(t *testing.T) {
	t.Parallel()
	const manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: shop\n"
	owner := func(uid string) string {
		return "  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: " + uid + ", uid: " + uid + "}]\n"
	}
	t.Run("owner references by uid, finalizers as a set", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		apply(t, cluster, "one", object(t, manifest+owner("u1")+"  finalizers: [one/f]\n"))
		obj := apply(t, cluster, "two", object(t, manifest+owner("u2")+"  finalizers: [two/f]\n"))
		assert.Equal(t, []string{"one/f", "two/f"}, obj.GetFinalizers())
		require.Len(t, obj.GetOwnerReferences(), 2)
		assert.Equal(t, `{"f:metadata":{"f:finalizers":{"v:\"two/f\"":{}},"f:ownerReferences":{"k:{\"uid\":\"u2\"}":{}}}}`,
			owned(obj, "two", "Apply", ""))
		obj = apply(t, cluster, "one", object(t, manifest))
		assert.Equal(t, []string{"two/f"}, obj.GetFinalizers())
		require.Len(t, obj.GetOwnerReferences(), 1)
	})
	t.Run("lists of an undeclared kind are atomic", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		apply(t, cluster, "one", cart(t, "{containers: [{name: a}]}"))
		_, err := cluster.Port().Apply(t.Context(), cart(t, "{containers: [{name: b}]}"), deploy.ApplyOptions{FieldManager: "two"})
		var conflict *deploy.ConflictError
		require.ErrorAs(t, err, &conflict)
		assert.Equal(t, ".spec.containers", conflict.Fields[0].Field)
		obj := force(t, cluster, "two", cart(t, "{containers: [{name: b}]}"))
		containers, _, _ := unstructured.NestedSlice(obj.Object, "spec", "containers")
		assert.Equal(t, []any{map[string]any{"name": "b"}}, containers)
	})
}

func TestApplyPreconditions(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(obj *unstructured.Unstructured)
		exists bool
	}{
		"uid of an object that is gone":       {func(obj *unstructured.Unstructured) { obj.SetUID("gone") }, false},
		"uid of a predecessor":                {func(obj *unstructured.Unstructured) { obj.SetUID("gone") }, true},
		"resourceVersion of an older state":   {func(obj *unstructured.Unstructured) { obj.SetResourceVersion("7") }, true},
		"resourceVersion of a deleted object": {func(obj *unstructured.Unstructured) { obj.SetResourceVersion("7") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			if test.exists {
				apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
			}
			before := cluster.Objects()
			obj := settings(t, "{a: '2'}")
			test.change(obj)
			_, err := cluster.Port().Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: "operkit", Force: true})
			var stale *deploy.StaleError
			require.ErrorAs(t, err, &stale)
			assert.Equal(t, before, cluster.Objects(), "nothing is resurrected or written")
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		manifest string
		manager  string
		says     string
	}{
		"no field manager":         {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}", "", "fieldManager is required"},
		"a name that is no name":   {"{apiVersion: v1, kind: ConfigMap, metadata: {name: A_B, namespace: b}}", "m", "metadata.name: Invalid value"},
		"a label that is no label": {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b, labels: {x: 'ä'}}}", "m", "metadata.labels: Invalid"},
		"a number as annotation":   {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b, annotations: {x: 1}}}", "m", ".metadata.annotations.x: expected string"},
		"managedFields in the intent": {
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b, managedFields: [{manager: m, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {}}]}}",
			"m", "managedFields must be nil",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			_, err := cluster.Port().Apply(t.Context(), object(t, test.manifest), deploy.ApplyOptions{FieldManager: test.manager})
			var invalid *deploy.InvalidError
			require.ErrorAs(t, err, &invalid)
			assert.ErrorContains(t, err, test.says)
			assert.Empty(t, cluster.Objects())
		})
	}
}

// What can't be sent to a server isn't a request.
func TestUnsendable(t *testing.T) {
	t.Parallel()
	for says, manifest := range map[string]string{
		"metadata.namespace is missing": "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
		"its kind is cluster-scoped":    "{apiVersion: v1, kind: Node, metadata: {name: a, namespace: b}}",
		"metadata.name is missing":      "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: b}}",
		"metadata.name may not contain": "{apiVersion: v1, kind: ConfigMap, metadata: {name: a/b, namespace: b}}",
	} {
		cluster := newCluster(t)
		recording := cluster.Record()
		obj := object(t, manifest)
		_, applied := cluster.Port().Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: "m"})
		_, got := cluster.Port().Get(t.Context(), deploy.RefOf(obj))
		for _, err := range []error{applied, got, cluster.Port().Delete(t.Context(), deploy.RefOf(obj), deploy.DeleteOptions{})} {
			var invalid *deploy.InvalidManifestError
			require.ErrorAs(t, err, &invalid, "deploy W1: %s", says)
			assert.ErrorContains(t, err, says)
		}
		assert.Empty(t, recording.Calls(), says)
	}
}

// Objects written in Go hold int; what is written down of them is what a server is sent.
func TestRecordingOfIntegers(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	recording := cluster.Record()
	obj := cart(t, "{}")
	obj.Object["spec"] = map[string]any{"size": 3}
	apply(t, cluster, "m", obj)
	obj.Object["spec"] = func() {}
	_, err := cluster.Port().Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: "m"})
	var invalid *deploy.InvalidManifestError
	require.ErrorAs(t, err, &invalid)
	calls := recording.Calls()
	require.Len(t, calls, 2)
	assert.Equal(t, map[string]any{"size": int64(3)}, calls[0].Object.Object["spec"])
	assert.Nil(t, calls[1].Object, "it couldn't be sent")
}

func TestApplyIgnoresStatus(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	manifest := cart(t, "{size: 1}")
	manifest.Object["status"] = map[string]any{"ready": true}
	obj := apply(t, cluster, "operkit", manifest)
	assert.NotContains(t, obj.Object, "status", "deploy W19: not when it is created")
	assert.Equal(t, `{"f:spec":{".":{},"f:size":{}}}`, owned(obj, "operkit", "Apply", ""))

	_, err := cluster.Port().Patch(t.Context(), cartRef, statusPatch(`{"status":{"ready":false}}`))
	require.NoError(t, err)
	manifest.Object["spec"] = map[string]any{"size": int64(2)}
	obj = apply(t, cluster, "operkit", manifest)
	assert.Equal(t, map[string]any{"ready": false}, obj.Object["status"], "deploy W19: not when it is changed")
}

func TestDryRunChangesNothing(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	applied, err := cluster.Port().Apply(t.Context(), cart(t, "{size: 1}"), deploy.ApplyOptions{FieldManager: "operkit", DryRun: true})
	require.NoError(t, err)
	assert.True(t, applied.Created)
	assert.NotEmpty(t, applied.Object.GetUID())
	assert.Empty(t, applied.Object.GetResourceVersion())
	assert.Nil(t, get(t, cluster, cartRef))

	before := apply(t, cluster, "operkit", cart(t, "{size: 1}"))
	applied, err = cluster.Port().Apply(t.Context(), cart(t, "{size: 2}"), deploy.ApplyOptions{FieldManager: "operkit", DryRun: true})
	require.NoError(t, err)
	assert.False(t, applied.Created)
	assert.Equal(t, map[string]any{"size": int64(2)}, applied.Object.Object["spec"], "the answer is as if")
	patch := statusPatch(`{"status":{"ready":true}}`)
	patch.DryRun = true
	patched, err := cluster.Port().Patch(t.Context(), cartRef, patch)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"ready": true}, patched.Object["status"])
	require.NoError(t, cluster.Port().Delete(t.Context(), cartRef, deploy.DeleteOptions{DryRun: true}))
	assert.Equal(t, before, get(t, cluster, cartRef))
	other := settings(t, "{}")
	other.SetName("other")
	assert.Equal(t, "2", apply(t, cluster, "operkit", other).GetResourceVersion(), "no version was used up")
}

func TestVersionsOfAKindAreOneObject(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	older := object(t, "{apiVersion: shop.example.com/v1alpha1, kind: Cart, metadata: {name: c, namespace: shop}, spec: {size: 1, color: red}}")
	newer := object(t, "{apiVersion: shop.example.com/v1, kind: Cart, metadata: {name: c, namespace: shop}, spec: {size: 1}}")
	first := apply(t, cluster, "operkit", older)
	second := apply(t, cluster, "operkit", newer)
	assert.Equal(t, first.GetUID(), second.GetUID())
	assert.Equal(t, map[string]any{"size": int64(1)}, second.Object["spec"], "what the older version applied is given up")
	require.Len(t, second.GetManagedFields(), 1, "an applier has one entry, whatever the version")
	assert.Equal(t, "shop.example.com/v1", second.GetManagedFields()[0].APIVersion)
	seen := get(t, cluster, deploy.RefOf(older))
	assert.Equal(t, "shop.example.com/v1alpha1", seen.GetAPIVersion())
	assert.Equal(t, seen, merge(t, cluster, deploy.RefOf(older), "kubectl", `{"spec":{"size":1}}`), "nothing changes by asking for another version")
}
