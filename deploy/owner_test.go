package deploy_test

import (
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func reference(name string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "shop.example.com/v1", Kind: "Cart", Name: name, UID: cart(name).GetUID()}
}

func controlling(name string) metav1.OwnerReference {
	r := reference(name)
	r.Controller = new(true)
	return r
}

func blocking(name string) metav1.OwnerReference {
	r := reference(name)
	r.BlockOwnerDeletion = new(true)
	return r
}

func owned(obj *unstructured.Unstructured, owners ...metav1.OwnerReference) *unstructured.Unstructured {
	obj = obj.DeepCopy()
	obj.SetOwnerReferences(owners)
	return obj
}

func TestOwnerReferences(t *testing.T) {
	t.Parallel()
	node := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "n", "uid": "n-uid"},
	}}
	nodeReference := metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: "n", UID: "n-uid", BlockOwnerDeletion: new(true)}
	for name, test := range map[string]struct {
		owner  *unstructured.Unstructured
		intent *unstructured.Unstructured
		want   []metav1.OwnerReference
	}{
		"deploy 6, 26: the owner is added, never as controller": {cart("c"), settings(t, "{}"), []metav1.OwnerReference{blocking("c")}},
		"deploy W12: references of the manifest are kept":       {cart("c"), owned(settings(t, "{}"), reference("d")), []metav1.OwnerReference{reference("d"), blocking("c")}},
		"deploy 26: the same uid isn't added twice":             {cart("c"), owned(settings(t, "{}"), reference("c")), []metav1.OwnerReference{reference("c")}},
		"deploy W12: a cluster-scoped owner":                    {node, settings(t, "{}"), []metav1.OwnerReference{nodeReference}},
		"deploy 25: an object doesn't own itself":               {cart("c"), cart("c"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			m := must(deploy.NewManager(cluster, deploy.OwnedBy(test.owner)))
			result := apply(t, m, test.intent)
			require.NoError(t, result.Err)
			assert.Equal(t, test.want, result.Object.GetOwnerReferences())
			cluster.take()
			assert.Equal(t, deploy.Unchanged, apply(t, m, test.intent).Action)
			assert.Empty(t, cluster.take())
		})
	}
}

func TestSharedOwners(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	m := must(deploy.NewManager(cluster))
	one := must(m.With(deploy.OwnedBy(cart("one")), deploy.FieldManager("one")))
	two := must(m.With(deploy.OwnedBy(cart("two")), deploy.FieldManager("two")))
	apply(t, one, settings(t, "{a: '1'}"))
	cluster.edit(t, settingsRef, `{"metadata":{"ownerReferences":[
		{"apiVersion":"shop.example.com/v1","kind":"Cart","name":"one","uid":"one-uid","blockOwnerDeletion":true},
		{"apiVersion":"shop.example.com/v1","kind":"Cart","name":"two","uid":"two-uid"}]}}`)
	cluster.take()

	t.Run("deploy 24: foreign references stay", func(t *testing.T) {
		assert.Equal(t, deploy.Unchanged, apply(t, one, settings(t, "{a: '1'}")).Action)
		assert.Equal(t, deploy.Configured, apply(t, one, settings(t, "{a: '2'}")).Action)
		assert.Len(t, cluster.get(t, settingsRef).GetOwnerReferences(), 2)
	})
	t.Run("deploy 26: several owners can share an object", func(t *testing.T) {
		assert.Equal(t, deploy.Configured, apply(t, two, settings(t, "{a: '2'}")).Action)
		assert.Len(t, cluster.get(t, settingsRef).GetOwnerReferences(), 2)
		cluster.take()
		assert.Equal(t, deploy.Unchanged, apply(t, one, settings(t, "{a: '2'}")).Action)
		assert.Equal(t, deploy.Unchanged, apply(t, two, settings(t, "{a: '2'}")).Action)
		assert.Empty(t, cluster.take())
	})
}

func TestOwnerReferenceDrift(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	m := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c"))))
	apply(t, m, settings(t, "{}"))
	cluster.edit(t, settingsRef, `{"metadata":{"ownerReferences":null}}`)
	assert.Equal(t, deploy.Configured, apply(t, m, settings(t, "{}")).Action, "we applied it: the reference is put back")
	assert.Equal(t, []metav1.OwnerReference{blocking("c")}, cluster.get(t, settingsRef).GetOwnerReferences())

	cluster.edit(t, settingsRef, `{"metadata":{"ownerReferences":null,"annotations":null}}`)
	assert.Equal(t, deploy.Conflicted, apply(t, m, settings(t, "{}")).Action, "nothing says any more that it is ours")
	adopting := must(m.With(deploy.Adopt(deploy.AdoptUnowned)))
	assert.Equal(t, deploy.Configured, apply(t, adopting, settings(t, "{}")).Action)
}

func TestImpossibleOwners(t *testing.T) {
	t.Parallel()
	elsewhere := settings(t, "{}")
	elsewhere.SetNamespace("bank")
	node := object(t, "{apiVersion: v1, kind: Node, metadata: {name: first}}")
	garbled := settings(t, "{}")
	garbled.Object["metadata"].(map[string]any)["ownerReferences"] = "c"
	for name, test := range map[string]struct {
		intent *unstructured.Unstructured
		says   string
	}{
		"deploy 27: another namespace":        {elsewhere, "it can't be owned by Cart shop/c"},
		"deploy W12: a cluster-scoped object": {node, "it can't be owned by Cart shop/c"},
		"references that are no list":         {garbled, "metadata.ownerReferences isn't a list"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			result := apply(t, must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c")))), test.intent)
			assert.Equal(t, deploy.Failed, result.Action)
			var invalid *deploy.InvalidManifestError
			require.ErrorAs(t, result.Err, &invalid)
			assert.ErrorContains(t, result.Err, test.says)
			assert.Empty(t, cluster.take())
		})
	}
	t.Run("deploy 23: an owner without uid", func(t *testing.T) {
		t.Parallel()
		owner := cart("c")
		owner.SetUID("")
		cluster := newCluster(t)
		_, err := must(deploy.NewManager(cluster)).Apply(t.Context(), objects(settings(t, "{}")), deploy.OwnedBy(owner))
		require.EqualError(t, err, "owner Cart shop/c: it has no uid: read it from the cluster first")
		assert.Empty(t, cluster.take())
	})
}

func TestAdoption(t *testing.T) {
	t.Parallel()
	foreign := owned(settings(t, "{b: '2'}"), reference("other"))
	for name, test := range map[string]struct {
		exists  *unstructured.Unstructured
		options []deploy.Option
		want    deploy.Action
		owner   string
	}{
		"another owner's is left alone":           {foreign, nil, deploy.Conflicted, "Cart other (uid other-uid)"},
		"deploy W14: nobody's is left alone":      {settings(t, "{b: '2'}"), nil, deploy.Conflicted, ""},
		"nobody's is taken when that is allowed":  {settings(t, "{b: '2'}"), []deploy.Option{deploy.Adopt(deploy.AdoptUnowned)}, deploy.Configured, ""},
		"another owner's is left alone even then": {foreign, []deploy.Option{deploy.Adopt(deploy.AdoptUnowned)}, deploy.Conflicted, "Cart other (uid other-uid)"},
		"with us among the owners it is ours":     {owned(settings(t, "{b: '2'}"), reference("other"), reference("c")), nil, deploy.Configured, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t, test.exists)
			before := cluster.get(t, settingsRef)
			m := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c"))))
			result := apply(t, m, settings(t, "{a: '1'}"), test.options...)
			assert.Equal(t, test.want, result.Action)
			if test.want != deploy.Conflicted {
				assert.Len(t, cluster.take(), 1)
				return
			}
			var owned *deploy.OwnedError
			require.ErrorAs(t, result.Err, &owned)
			assert.Equal(t, test.owner, owned.Owner)
			assert.Equal(t, before, cluster.get(t, settingsRef))
			assert.Empty(t, cluster.take())
		})
	}
	t.Run("without an owner every object may be applied", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, foreign)
		result := apply(t, must(deploy.NewManager(cluster)), settings(t, "{a: '1'}"))
		assert.Equal(t, deploy.Configured, result.Action)
		assert.Len(t, result.Object.GetOwnerReferences(), 1)
	})
}

// An object that the View doesn't show, though it exists.
func TestBelievedAbsent(t *testing.T) {
	t.Parallel()
	conflicting := owned(settings(t, "{a: '9'}"), reference("other"))
	for name, test := range map[string]struct {
		exists  *unstructured.Unstructured
		options []deploy.Option
		want    deploy.Action
		calls   int
		data    map[string]any
		owners  []metav1.OwnerReference
	}{
		"another owner's is given back":              {owned(settings(t, "{b: '2'}"), reference("other")), nil, deploy.Conflicted, 2, map[string]any{"b": "2"}, []metav1.OwnerReference{reference("other")}},
		"nobody's is given back":                     {settings(t, "{b: '2'}"), nil, deploy.Conflicted, 2, map[string]any{"b": "2"}, nil},
		"nobody's is adopted when that is allowed":   {settings(t, "{b: '2'}"), []deploy.Option{deploy.Adopt(deploy.AdoptUnowned)}, deploy.Configured, 1, map[string]any{"a": "1", "b": "2"}, []metav1.OwnerReference{blocking("c")}},
		"deploy W5: a contested field is not forced": {conflicting, nil, deploy.Conflicted, 1, map[string]any{"a": "9"}, []metav1.OwnerReference{reference("other")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t, test.exists)
			cluster.blind = true
			m := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c"))))
			result := apply(t, m, settings(t, "{a: '1'}"), test.options...)
			assert.Equal(t, test.want, result.Action)
			calls := cluster.take()
			assert.Len(t, calls, test.calls)
			for _, call := range calls {
				assert.Equal(t, "apply "+settingsName, call, "nothing is forced")
			}
			obj := cluster.get(t, settingsRef)
			assert.Equal(t, test.data, obj.Object["data"])
			assert.Equal(t, test.owners, obj.GetOwnerReferences())
			if test.want == deploy.Conflicted {
				assert.NotContains(t, obj.GetAnnotations(), "operkit.dev/applied-operkit")
			}
		})
	}
	t.Run("our own, not shown yet, is ours", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c"))))
		apply(t, m, settings(t, "{a: '1'}"))
		cluster.blind = true
		result := apply(t, m, settings(t, "{a: '2'}"))
		require.NoError(t, result.Err)
		assert.Equal(t, deploy.Configured, result.Action)
		assert.Equal(t, map[string]any{"a": "2"}, cluster.get(t, settingsRef).Object["data"])
	})
	t.Run("our own with somebody's mark on it is ours too", func(t *testing.T) {
		t.Parallel()
		before := newCluster(t)
		apply(t, must(deploy.NewManager(before, deploy.OwnedBy(cart("c")))), settings(t, "{a: '1'}"))
		for reason, row := range map[string]struct {
			fields string
			after  time.Duration
			want   deploy.Action
		}{
			"a label, later":            {`{"f:metadata":{"f:labels":{"f:team":{}}}}`, time.Hour, deploy.Configured},
			"a label, when it was made": {`{"f:metadata":{"f:labels":{"f:team":{}}}}`, 0, deploy.Conflicted},
			"content":                   {`{"f:data":{"f:b":{}}}`, time.Hour, deploy.Conflicted},
		} {
			cluster := restarted(t, before, func(obj *unstructured.Unstructured) {
				at := metav1.NewTime(obj.GetCreationTimestamp().Add(row.after))
				obj.SetLabels(map[string]string{"team": "x"})
				obj.SetManagedFields(append(obj.GetManagedFields(), metav1.ManagedFieldsEntry{Manager: "somebody", Operation: "Update", Time: &at,
					APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(row.fields)}))
			})
			cluster.blind = true
			result := apply(t, must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c")))), settings(t, "{a: '2'}"))
			assert.Equal(t, row.want, result.Action, reason)
		}
	})
	t.Run("deploy W14: what goes while it is given back doesn't come back", func(t *testing.T) {
		t.Parallel()
		for reason, successor := range map[string]*unstructured.Unstructured{"it is deleted": nil, "and made anew": settings(t, "{b: '3'}")} {
			cluster := newCluster(t, settings(t, "{b: '2'}"))
			uid := cluster.get(t, settingsRef).GetUID()
			cluster.blind = true
			cluster.after = func(string) error {
				cluster.after = nil
				require.NoError(t, cluster.memory.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{UID: uid}), reason)
				if successor != nil {
					_, err := cluster.memory.Port().Apply(t.Context(), successor, deploy.ApplyOptions{FieldManager: "kubectl"})
					require.NoError(t, err, reason)
				}
				return nil
			}
			result := apply(t, must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c")))), settings(t, "{a: '1'}"))
			assert.Equal(t, deploy.Conflicted, result.Action, reason)
			assert.Equal(t, &deploy.OwnedError{Ref: settingsRef}, result.Err, reason)
			assert.Equal(t, uid, cluster.applied(t).GetUID(), reason)
			assert.Equal(t, []string{"apply " + settingsName, "apply " + settingsName, "get " + settingsName}, cluster.take(), reason)
			live := cluster.get(t, settingsRef)
			assert.Equal(t, successor == nil, live == nil, reason)
			if successor != nil && live != nil {
				assert.Equal(t, successor.Object["data"], live.Object["data"], reason)
			}
		}
	})
	t.Run("giving back that fails is told", func(t *testing.T) {
		t.Parallel()
		for reason, refused := range map[string]error{
			"nobody answers":          &deploy.UnavailableError{Err: errNo},
			"a webhook says conflict": &deploy.StaleError{Ref: settingsRef, Err: errNo},
			"it isn't allowed":        &deploy.ForbiddenError{Verb: "patch", Err: errNo},
		} {
			cluster := newCluster(t, settings(t, "{b: '2'}"))
			cluster.blind = true
			cluster.before = failing("apply", nil, refused)
			result := apply(t, must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c")), deploy.RetryFor(0))), settings(t, "{a: '1'}"))
			assert.Equal(t, deploy.Conflicted, result.Action, reason)
			require.ErrorIs(t, result.Err, refused, reason)
			var owned *deploy.OwnedError
			require.ErrorAs(t, result.Err, &owned, reason)
		}
	})
}

func TestController(t *testing.T) {
	t.Parallel()
	controlled := reference("other")
	controlled.Controller = new(true)
	for name, test := range map[string]struct {
		exists  *unstructured.Unstructured
		options []deploy.Option
		want    deploy.Action
	}{
		"ours controls what is new":              {nil, []deploy.Option{deploy.AsController()}, deploy.Created},
		"beside an owner that doesn't control":   {owned(settings(t, "{}"), reference("other")), []deploy.Option{deploy.AsController(), deploy.Adopt(deploy.AdoptAlways)}, deploy.Configured},
		"never beside one that does":             {owned(settings(t, "{}"), controlled), []deploy.Option{deploy.AsController(), deploy.Adopt(deploy.AdoptAlways)}, deploy.Conflicted},
		"an owner beside its controller":         {owned(settings(t, "{}"), controlled), []deploy.Option{deploy.Adopt(deploy.AdoptAlways)}, deploy.Configured},
		"another owner's isn't taken by default": {owned(settings(t, "{}"), reference("other")), []deploy.Option{deploy.AsController()}, deploy.Conflicted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			if test.exists != nil {
				cluster = newCluster(t, test.exists)
			}
			result := apply(t, must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c")))), settings(t, "{}"), test.options...)
			require.Equal(t, test.want, result.Action, result.Err)
			controller := metav1.GetControllerOf(cluster.get(t, settingsRef))
			if test.want == deploy.Created {
				assert.Equal(t, "c", controller.Name)
			}
			if test.want == deploy.Conflicted {
				require.ErrorContains(t, result.Err, "belongs to Cart other (uid other-uid) already")
			}
		})
	}
}

// Objects that can't refer to their owner carry its uid, and are found by it.
func TestOwnedByLabel(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, cart("c"))
	elsewhere, node := settings(t, "{}"), object(t, "{apiVersion: v1, kind: Node, metadata: {name: first, labels: {a: b}}}")
	elsewhere.SetNamespace("bank")
	m := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c")), deploy.OwnedByLabel()))
	results, err := m.Apply(t.Context(), objects(elsewhere, node, settings(t, "{}")))
	require.NoError(t, err)
	assert.Equal(t, []bool{true, true, false}, []bool{results[0].ByLabel, results[1].ByLabel, results[2].ByLabel}, "deploy W12: it is told")
	assert.Equal(t, map[string]string{"operkit.dev/owner-uid": "c-uid"}, results[0].Object.GetLabels())
	assert.Equal(t, map[string]string{"a": "b", "operkit.dev/owner-uid": "c-uid"}, results[1].Object.GetLabels())
	assert.Empty(t, results[0].Object.GetOwnerReferences())
	assert.Equal(t, deploy.Unchanged, apply(t, m, elsewhere).Action)

	result := apply(t, must(deploy.NewManager(cluster, deploy.OwnedBy(cart("other")), deploy.OwnedByLabel())), elsewhere)
	require.EqualError(t, result.Err, "ConfigMap bank/settings: belongs to Cart shop/c (uid c-uid) already: rename our object, or delete the existing one")

	kinds := []schema.GroupVersionKind{configMap, {Group: "no.example.com", Version: "v1", Kind: "Unknown"}, node.GroupVersionKind()}
	tracked, err := m.Tracked(t.Context(), kinds)
	require.NoError(t, err)
	require.Len(t, tracked, 2, "what refers to its owner isn't among them")
	results, err = m.Delete(t.Context(), tracked)
	require.NoError(t, err)
	assert.Equal(t, []deploy.Action{deploy.Removed, deploy.Removed}, actions(results))
	tracked, err = m.Tracked(t.Context(), kinds)
	require.NoError(t, err)
	assert.Empty(t, tracked)
	_, err = must(deploy.NewManager(cluster)).Tracked(t.Context(), kinds)
	require.EqualError(t, err, "nil owner: use OwnedBy")
}
