package deploy_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	ownerLabel  = "operkit.dev/owner-uid"
	appliedMark = "operkit.dev/applied-operkit"
)

// vault is what a cart owns in another namespace.
func vault(t testing.TB, strategy deploy.Strategy) *unstructured.Unstructured {
	t.Helper()
	obj := object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: vault, namespace: bank}, data: {a: '1'}}")
	if strategy != "" {
		obj.SetAnnotations(map[string]string{"operkit.dev/strategy": string(strategy)})
	}
	return obj
}

var vaultRef = deploy.Ref{Kind: configMap, Namespace: "bank", Name: "vault"}

// restored is obj as a backup has brought it back: with the marks of the manager, and the uid of an owner.
func restored(obj *unstructured.Unstructured, uid string, applied bool) *unstructured.Unstructured {
	obj = obj.DeepCopy()
	obj.SetLabels(map[string]string{ownerLabel: uid})
	if applied {
		obj.SetAnnotations(map[string]string{appliedMark: "as-before"})
	}
	return obj
}

func TestFormerOwnerByLabel(t *testing.T) {
	t.Parallel()
	other := cart("other")
	other.SetNamespace("far")
	basket := cart("basket")
	basket.SetKind("Basket")
	baskets := deploy.OwnerKinds(schema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Basket"})
	list, applied := "list Cart", "apply ConfigMap bank/vault force"
	for name, test := range map[string]struct {
		exists  *unstructured.Unstructured
		options []deploy.Option
		by      deploy.Strategy
		want    deploy.Action
		calls   []string
		says    string
	}{
		"what we applied for an owner that is gone is adopted": {restored(vault(t, ""), "gone", true), nil, "",
			deploy.Configured, []string{list, applied}, ""},
		"also by a manager that leaves fields to others": {restored(vault(t, ""), "gone", true), []deploy.Option{deploy.Conflicts(deploy.Keep)}, "",
			deploy.Configured, []string{list, applied}, ""},
		"also where the content is replaced": {restored(vault(t, ""), "gone", true), nil, deploy.Replace,
			deploy.Replaced, []string{list, "update ConfigMap bank/vault"}, ""},
		"also where the content is left alone": {restored(vault(t, ""), "gone", true), nil, deploy.CreateOnly,
			deploy.Configured, []string{list, "patch ConfigMap bank/vault"}, ""},
		"also where it waits for its deletion": {restored(vault(t, ""), "gone", true), nil, deploy.OnDelete,
			deploy.Configured, []string{list, "patch ConfigMap bank/vault"}, ""},
		"an owner in another namespace is an owner": {restored(vault(t, ""), "other-uid", true), nil, "",
			deploy.Conflicted, nil, "belongs to Cart far/other (uid other-uid) already: rename our object, or delete the existing one"},
		"so is one of another kind": {restored(vault(t, ""), "basket-uid", true), []deploy.Option{baskets}, "",
			deploy.Conflicted, nil, "belongs to Basket shop/basket (uid basket-uid) already"},
		"an owner whose kind isn't known counts, if kinds may be unknown": {restored(vault(t, ""), "gone", true), []deploy.Option{deploy.UnknownOwnerKinds()}, "",
			deploy.Conflicted, nil, "by its label operkit.dev/owner-uid already"},
		"what somebody else made stays theirs": {restored(vault(t, ""), "gone", false), nil, "",
			deploy.Conflicted, nil, "by its label operkit.dev/owner-uid already: rename our object, delete the existing one, or, if that owner is gone, set the label to c-uid"},
		"unless it may be adopted": {restored(vault(t, ""), "gone", false), []deploy.Option{deploy.Adopt(deploy.AdoptUnowned)}, "",
			deploy.Configured, []string{list, applied}, ""},
		"which a living owner prevents": {restored(vault(t, ""), "other-uid", false), []deploy.Option{deploy.Adopt(deploy.AdoptUnowned)}, "",
			deploy.Conflicted, nil, "belongs to Cart far/other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t, cart("c"), other, basket, test.exists)
			m := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c")), deploy.OwnedByLabel()))
			result := apply(t, m, vault(t, test.by), test.options...)
			assert.Equal(t, test.want, result.Action, "%v", result.Err)
			calls := cluster.take()
			for i, call := range calls {
				call, _, _ = strings.Cut(call, " {")
				calls[i] = call
			}
			assert.Equal(t, test.calls, calls)
			if test.says != "" {
				require.ErrorContains(t, result.Err, test.says)
				return
			}
			require.NoError(t, result.Err)
			assert.Equal(t, "c-uid", cluster.get(t, vaultRef).GetLabels()[ownerLabel])
			again := apply(t, m, vault(t, test.by), test.options...)
			assert.False(t, again.Changed(), again.Action)
			assert.Empty(t, cluster.take(), "what was adopted costs nothing")
			tracked, err := m.Tracked(t.Context(), []schema.GroupVersionKind{configMap})
			require.NoError(t, err)
			assert.Len(t, tracked, 1, "and goes with its owner")
		})
	}
	t.Run("an owner that was found gone once isn't looked for again", func(t *testing.T) {
		t.Parallel()
		second := named(vault(t, ""), "second")
		cluster := newCluster(t, cart("c"), restored(vault(t, ""), "gone", true), restored(second, "gone", true))
		m := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c")), deploy.OwnedByLabel(), deploy.Concurrency(1)))
		_, err := m.Apply(t.Context(), objects(vault(t, ""), second))
		require.NoError(t, err)
		assert.Equal(t, []string{list, applied, "apply ConfigMap bank/second force"}, cluster.take())
	})
	t.Run("whether the owner exists can't be found out", func(t *testing.T) {
		t.Parallel()
		for reason, refused := range map[string]error{
			"no right to look": &deploy.ForbiddenError{Verb: "list", Err: errNo},
			"nobody answers":   &deploy.UnavailableError{Err: errNo},
		} {
			cluster := newCluster(t, cart("c"), restored(vault(t, ""), "gone", true))
			cluster.before = failing("list", refused)
			m := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c")), deploy.OwnedByLabel(), deploy.RetryFor(0)))
			result := apply(t, m, vault(t, ""))
			assert.Equal(t, deploy.Conflicted, result.Action, reason)
			require.ErrorIs(t, result.Err, refused, reason)
			require.ErrorContains(t, result.Err, "if that owner is gone, remove the label; can't find out whether that owner still exists", reason)
			assert.Equal(t, "gone", cluster.get(t, vaultRef).GetLabels()[ownerLabel], reason)
		}
	})
	t.Run("what isn't rendered any more is removed", func(t *testing.T) {
		t.Parallel()
		for uid, want := range map[string]deploy.Action{"gone": deploy.Removed, "other-uid": deploy.Conflicted} {
			cluster := newCluster(t, cart("c"), other, restored(vault(t, ""), uid, true))
			m := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c")), deploy.OwnedByLabel()))
			results, _ := m.Delete(t.Context(), objects(vault(t, "")))
			assert.Equal(t, want, results[0].Action)
		}
	})
}

func TestFormerOwnerByReference(t *testing.T) {
	t.Parallel()
	former := blocking("c")
	former.UID = "before"
	controlling := former
	controlling.Controller = new(true)
	elsewhere := former
	elsewhere.APIVersion = "other.example.com/v1"
	for name, test := range map[string]struct {
		exists  *unstructured.Unstructured
		options []deploy.Option
		by      deploy.Strategy
		want    deploy.Action
		owners  []metav1.OwnerReference
	}{
		"one of our name is gone, and ours is put beside it": {owned(settings(t, "{b: '2'}"), former), nil, "",
			deploy.Configured, []metav1.OwnerReference{former, blocking("c")}},
		"what its strategy leaves alone gets ours in its place": {owned(settings(t, "{b: '2'}"), former), nil, deploy.CreateOnly,
			deploy.Configured, []metav1.OwnerReference{blocking("c")}},
		"other owners stay beside ours": {owned(settings(t, "{b: '2'}"), former, blocking("c"), reference("other")), nil, deploy.CreateOnly,
			deploy.Unchanged, []metav1.OwnerReference{former, blocking("c"), reference("other")}},
		"a former controller makes no room for ours": {owned(settings(t, "{b: '2'}"), controlling), []deploy.Option{deploy.AsController()}, "",
			deploy.Conflicted, []metav1.OwnerReference{controlling}},
		"another kind of our name is somebody else": {owned(settings(t, "{b: '2'}"), elsewhere), nil, "",
			deploy.Conflicted, []metav1.OwnerReference{elsewhere}},
		"another name too": {owned(settings(t, "{b: '2'}"), reference("other")), nil, "",
			deploy.Conflicted, []metav1.OwnerReference{reference("other")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exists := test.exists.DeepCopy()
			exists.SetAnnotations(map[string]string{appliedMark: "as-before"})
			cluster := newCluster(t, exists)
			m := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c"))))
			result := apply(t, m, settings(t, "{a: '1'}"), append(test.options, deploy.DefaultStrategy(cmp.Or(test.by, deploy.ServerSideApply)))...)
			assert.Equal(t, test.want, result.Action, "%v", result.Err)
			assert.Equal(t, test.owners, cluster.get(t, settingsRef).GetOwnerReferences())
			for _, call := range cluster.take() {
				assert.NotContains(t, call, "list", "a name belongs to one object: nothing has to be asked")
			}
		})
	}
}
