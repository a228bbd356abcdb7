package deploy_test

import (
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// shopWith is a cluster with the set shop, whose members are the given objects.
func shopWith(t testing.TB, members ...*unstructured.Unstructured) *setCluster {
	t.Helper()
	cluster := newSetCluster(t)
	_, err := must(deploy.NewManager(cluster)).ApplySet(t.Context(), shop, members)
	require.NoError(t, err)
	cluster.take()
	return cluster
}

var persistentVolumeClaim = schema.GroupKind{Kind: "PersistentVolumeClaim"}

func claim(t testing.TB) *unstructured.Unstructured {
	t.Helper()
	return object(t, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: disk, namespace: shop}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}")
}

func TestPrune(t *testing.T) {
	t.Parallel()
	keep := objects(item(t, "ConfigMap", "shop", "keep"))
	old := item(t, "ServiceAccount", "east", "old")
	held := item(t, "ServiceAccount", "east", "old")
	held.SetFinalizers([]string{"shop/hold"})
	deletable := shop
	deletable.Deletable = []schema.GroupKind{persistentVolumeClaim}
	for name, test := range map[string]struct {
		members []*unstructured.Unstructured
		set     deploy.ApplySet
		options []deploy.Option
		fail    func(string) error
		// pruned is what becomes of them, reason of the first, left what the parent remembers.
		pruned []string
		reason string
		left   []string
		bad    bool
	}{
		"deleted": {
			members: objects(old), set: shop, pruned: []string{"ServiceAccount east/old deleted"},
			reason: "it is in the set and not among its objects any more", left: []string{"ConfigMap", ""},
		},
		"held by a finalizer: it stays known": {
			members: objects(held), set: shop, pruned: []string{"ServiceAccount east/old deleted"}, left: []string{"ConfigMap,ServiceAccount", "east"},
		},
		"protected": {
			members: objects(claim(t), old), set: shop,
			pruned: []string{"PersistentVolumeClaim shop/disk skipped", "ServiceAccount east/old deleted"},
			reason: "objects of kind PersistentVolumeClaim are kept unless ApplySet.Deletable names it",
			left:   []string{"ConfigMap,PersistentVolumeClaim", ""},
		},
		"protected, but declared deletable": {
			members: objects(claim(t)), set: deletable, pruned: []string{"PersistentVolumeClaim shop/disk deleted"}, left: []string{"ConfigMap", ""},
		},
		"gone meanwhile": {
			members: objects(old), set: shop, fail: failing("delete", &deploy.NotFoundError{Ref: deploy.RefOf(old)}),
			pruned: []string{"ServiceAccount east/old skipped"}, reason: "it is gone already", left: []string{"ConfigMap", ""},
		},
		"deploy W14: replaced meanwhile": {
			members: objects(old), set: shop, fail: failing("delete", &deploy.StaleError{Ref: deploy.RefOf(old), Err: errNo}),
			pruned: []string{"ServiceAccount east/old failed"}, left: []string{"ConfigMap,ServiceAccount", "east"}, bad: true,
		},
		"one that fails doesn't keep the others": {
			members: objects(old, item(t, "Secret", "shop", "old")), set: shop, fail: failing("delete", &deploy.ForbiddenError{Err: errNo}),
			pruned: []string{"Secret shop/old failed", "ServiceAccount east/old deleted"}, left: []string{"ConfigMap,Secret,ServiceAccount", "east"}, bad: true,
		},
		"members that can't be listed: nothing goes": {
			members: objects(old, item(t, "Secret", "shop", "old")), set: shop, fail: failing("list ServiceAccount", &deploy.ForbiddenError{Err: errNo}),
			left: []string{"ConfigMap,Secret,ServiceAccount", "east"}, bad: true,
		},
		"without an owner, where such may be adopted": {
			members: objects(old), set: shop, options: []deploy.Option{deploy.OwnedBy(cart("c")), deploy.Adopt(deploy.AdoptUnowned)},
			pruned: []string{"ServiceAccount east/old deleted"}, left: []string{"ConfigMap", ""},
		},
		"another owner's, where such may be adopted": {
			members: objects(owned(old, reference("other"))), set: deploy.ApplySet{Parent: shop.Parent, Tooling: "operkit/v1"},
			options: []deploy.Option{deploy.OwnedBy(cart("c")), deploy.Adopt(deploy.AdoptAlways)},
			pruned:  []string{"ServiceAccount east/old conflict"}, reason: "it doesn't belong to the owner", left: []string{"ConfigMap,ServiceAccount", "east"}, bad: true,
		},
		"what others may need goes last": {
			members: objects(item(t, "Namespace", "", "east"), item(t, "Secret", "east", "x")),
			set:     deploy.ApplySet{Parent: shop.Parent, Deletable: []schema.GroupKind{{Kind: "Namespace"}}},
			pruned:  []string{"Secret east/x deleted", "Namespace east deleted"}, left: []string{"ConfigMap", ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := shopWith(t, append(keep, test.members...)...)
			cluster.before = test.fail
			results, err := must(deploy.NewManager(cluster, test.options...)).ApplySet(t.Context(), test.set, keep)
			assert.Equal(t, test.bad, err != nil, "%v", err)
			_, pruned := actionsOf(results)
			assert.Equal(t, test.pruned, pruned)
			if test.reason != "" {
				assert.Equal(t, test.reason, results.Pruned[0].Reason)
			}
			assert.Equal(t, test.left, cluster.remembered(t, folder))
			for _, p := range results.Pruned {
				assert.Equal(t, p.Action == deploy.Removed && len(p.Object.GetFinalizers()) == 0, cluster.get(t, p.Ref) == nil)
			}
		})
	}
	t.Run("what was held is forgotten once it is gone", func(t *testing.T) {
		t.Parallel()
		cluster := shopWith(t, append(keep, held)...)
		m := must(deploy.NewManager(cluster))
		for _, want := range [][]string{{"ServiceAccount east/old deleted"}, {"ServiceAccount east/old skipped"}} {
			results, err := m.ApplySet(t.Context(), shop, keep)
			require.NoError(t, err)
			_, pruned := actionsOf(results)
			assert.Equal(t, want, pruned)
			if want[0] != "ServiceAccount east/old deleted" {
				assert.Equal(t, "it is being deleted already and waits for shop/hold", results.Pruned[0].Reason)
			}
			assert.Equal(t, []string{"ConfigMap,ServiceAccount", "east"}, cluster.remembered(t, folder))
		}
		_, err := cluster.memory.Port().Patch(t.Context(), deploy.RefOf(held), deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{"metadata":{"finalizers":null}}`), FieldManager: "x"})
		require.NoError(t, err)
		_, err = m.ApplySet(t.Context(), shop, keep)
		require.NoError(t, err)
		assert.Equal(t, []string{"ConfigMap", ""}, cluster.remembered(t, folder))
	})
}

func TestPruneFindsTheRightOnes(t *testing.T) {
	t.Parallel()
	keep := item(t, "ConfigMap", "shop", "keep")
	t.Run("an object that is also found under another kind is known by its uid", func(t *testing.T) {
		t.Parallel()
		cluster := shopWith(t, keep, item(t, "Secret", "shop", "old"))
		uid := cluster.get(t, deploy.RefOf(keep)).GetUID()
		twice := inSet(item(t, "Secret", "shop", "keep"), shop)
		twice.SetUID(uid)
		cluster.listed = func(kind string, members []*unstructured.Unstructured) []*unstructured.Unstructured {
			if kind == "Secret" {
				members = append(members, twice)
			}
			return members
		}
		m := must(deploy.NewManager(cluster))
		found, err := m.PruneCandidates(t.Context(), shop, objects(keep))
		require.NoError(t, err)
		require.Len(t, found, 1)
		differences, err := m.DiffSet(t.Context(), shop, objects(keep))
		require.NoError(t, err)
		require.Len(t, differences, 2)
		results, err := m.ApplySet(t.Context(), shop, objects(keep))
		require.NoError(t, err)
		_, pruned := actionsOf(results)
		assert.Equal(t, []string{"Secret shop/old deleted"}, pruned)
	})
	t.Run("what the list shows by mistake stays", func(t *testing.T) {
		t.Parallel()
		cluster := shopWith(t, keep)
		foreign := item(t, "ConfigMap", "shop", "foreign")
		cluster.put(t, foreign)
		cluster.listed = func(_ string, members []*unstructured.Unstructured) []*unstructured.Unstructured {
			return append(members, cluster.get(t, deploy.RefOf(foreign)), cluster.get(t, folder))
		}
		results, err := must(deploy.NewManager(cluster)).ApplySet(t.Context(), shop, objects(keep))
		require.NoError(t, err)
		assert.Empty(t, results.Pruned)
	})
	t.Run("the parent, labelled as a member, stays", func(t *testing.T) {
		t.Parallel()
		cluster := shopWith(t, keep, item(t, "Secret", "shop", "old"))
		_, err := cluster.memory.Port().Patch(t.Context(), folder, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{"metadata":{"labels":{"` + deploy.PartOfLabel + `":"` + shop.ID() + `"}}}`), FieldManager: "x"})
		require.NoError(t, err)
		results, err := must(deploy.NewManager(cluster)).ApplySet(t.Context(), shop, objects(keep))
		require.NoError(t, err)
		_, pruned := actionsOf(results)
		assert.Equal(t, []string{"Secret shop/old deleted"}, pruned)
	})
	t.Run("one that got its name from the cluster stays", func(t *testing.T) {
		t.Parallel()
		made := item(t, "ConfigMap", "shop", "")
		made.SetGenerateName("made-")
		cluster := newSetCluster(t)
		m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.CreateOnly)))
		for _, want := range []deploy.Action{deploy.Created, deploy.Unchanged} {
			results, err := m.ApplySet(t.Context(), shop, objects(made))
			require.NoError(t, err)
			assert.Equal(t, want, results.Applied[0].Action)
			assert.Empty(t, results.Pruned)
		}
		found, err := m.PruneCandidates(t.Context(), shop, objects(made))
		require.NoError(t, err)
		assert.Empty(t, found)
		differences, err := m.DiffSet(t.Context(), shop, objects(made))
		require.NoError(t, err)
		assert.Len(t, differences, 1)
		found, err = m.PruneCandidates(t.Context(), shop, objects(keep))
		require.NoError(t, err)
		assert.Len(t, found, 1, "but goes with its manifest")
	})
	t.Run("one in another version of its kind stays", func(t *testing.T) {
		t.Parallel()
		scaler := func(version, spec string) *unstructured.Unstructured {
			return object(t, "{apiVersion: autoscaling/"+version+", kind: HorizontalPodAutoscaler, metadata: {name: web, namespace: shop}, spec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: web}"+spec+"}}")
		}
		cluster := shopWith(t, scaler("v2", ""))
		results, err := must(deploy.NewManager(cluster)).ApplySet(t.Context(), shop, objects(scaler("v1", "")))
		require.NoError(t, err)
		assert.Empty(t, results.Pruned)
	})
	t.Run("a kind that isn't served any more is forgotten", func(t *testing.T) {
		t.Parallel()
		cluster := shopWith(t, keep)
		_, err := cluster.memory.Port().Patch(t.Context(), folder, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{"metadata":{"annotations":{"` + deploy.SetKindsAnnotation + `":"Basket.shop.example.com, ConfigMap"}}}`), FieldManager: "x"})
		require.NoError(t, err)
		_, err = must(deploy.NewManager(cluster)).ApplySet(t.Context(), shop, objects(keep))
		require.NoError(t, err)
		assert.Equal(t, []string{"ConfigMap", ""}, cluster.remembered(t, folder))
	})
	t.Run("a member that isn't the owner's stays, and is told", func(t *testing.T) {
		t.Parallel()
		theirs := owned(item(t, "ConfigMap", "shop", "theirs"), reference("other"))
		cluster := shopWith(t, theirs)
		mine := owned(item(t, "ConfigMap", "shop", "mine"), reference("c"))
		results, err := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c")))).ApplySet(t.Context(), shop, objects(mine))
		var foreign *deploy.OwnedError
		require.ErrorAs(t, err, &foreign)
		assert.True(t, foreign.Deletion)
		_, pruned := actionsOf(results)
		assert.Equal(t, []string{"ConfigMap shop/theirs conflict"}, pruned)
		assert.NotNil(t, cluster.get(t, deploy.RefOf(theirs)))
	})
}

func TestPruneCandidates(t *testing.T) {
	t.Parallel()
	keep := item(t, "ConfigMap", "shop", "keep")
	cluster := shopWith(t, keep, claim(t), item(t, "ServiceAccount", "east", "old"))
	m := must(deploy.NewManager(cluster))
	before := cluster.memory.Objects()
	found, err := m.PruneCandidates(t.Context(), shop, objects(keep, item(t, "ConfigMap", "shop", "new")))
	require.NoError(t, err)
	got := map[string]string{}
	for _, p := range found {
		got[p.Ref.String()+" "+string(p.Action)] = p.Reason
	}
	assert.Equal(t, map[string]string{
		"PersistentVolumeClaim shop/disk skipped": "objects of kind PersistentVolumeClaim are kept unless ApplySet.Deletable names it",
		"ServiceAccount east/old deleted":         "it is in the set and not among its objects any more",
	}, got)
	assert.Equal(t, before, cluster.memory.Objects())
	for _, call := range cluster.take() {
		assert.True(t, strings.HasPrefix(call, "get") || strings.HasPrefix(call, "list"), call)
	}
	found, err = m.PruneCandidates(t.Context(), deploy.ApplySet{Parent: deploy.Ref{Namespace: "shop", Name: "absent"}}, objects(keep))
	require.NoError(t, err)
	assert.Empty(t, found)
	_, err = m.PruneCandidates(t.Context(), shop, nil)
	var invalid *deploy.InvalidSetError
	require.ErrorAs(t, err, &invalid)
}

func TestDiffSet(t *testing.T) {
	t.Parallel()
	keep := item(t, "ConfigMap", "shop", "keep")
	cluster := shopWith(t, keep, claim(t), item(t, "ServiceAccount", "east", "old"))
	m := must(deploy.NewManager(cluster, deploy.Concurrency(1)))
	before := cluster.memory.Objects()
	differences, err := m.DiffSet(t.Context(), shop, objects(item(t, "ConfigMap", "shop", "new"), keep))
	require.NoError(t, err)
	got := map[string]deploy.Action{}
	for _, d := range differences {
		got[d.Ref.String()] = d.Action
	}
	assert.Equal(t, map[string]deploy.Action{
		"ConfigMap shop/new": deploy.Created, "ConfigMap shop/keep": deploy.Unchanged,
		"PersistentVolumeClaim shop/disk": deploy.Skipped, "ServiceAccount east/old": deploy.Removed,
	}, got)
	assert.Equal(t, deploy.Created, differences[0].Action, "objects come first, in their order")
	assert.Contains(t, differences[0].Unified, "+    "+deploy.PartOfLabel+": "+shop.ID())
	assert.Empty(t, differences[2].Unified)
	assert.Contains(t, differences[2].Reason, "kept")
	assert.Equal(t, `--- ServiceAccount east/old (live)
+++ /dev/null
@@ -1,7 +0,0 @@
-apiVersion: v1
-kind: ServiceAccount
-metadata:
-  labels:
-    applyset.kubernetes.io/part-of: `+shop.ID()+`
-  name: old
-  namespace: east
`, differences[3].Unified)
	assert.Equal(t, []string{
		"get " + folderName, "apply ConfigMap shop/new dry-run",
		"list ConfigMap east", "list ConfigMap shop", "list PersistentVolumeClaim east", "list PersistentVolumeClaim shop", "list ServiceAccount east", "list ServiceAccount shop",
	}, cluster.take())
	assert.Equal(t, before, cluster.memory.Objects())

	t.Run("not complete: no candidates", func(t *testing.T) {
		bad := item(t, "ConfigMap", "shop", "x")
		bad.SetName("")
		differences, err := m.DiffSet(t.Context(), shop, objects(bad, keep))
		require.Error(t, err)
		assert.Len(t, differences, 2)
	})
	t.Run("no parent yet: all is new", func(t *testing.T) {
		differences, err := m.DiffSet(t.Context(), deploy.ApplySet{Parent: deploy.Ref{Namespace: "shop", Name: "absent"}}, objects(item(t, "ConfigMap", "shop", "x")))
		require.NoError(t, err)
		require.Len(t, differences, 1)
		assert.Equal(t, deploy.Created, differences[0].Action)
	})
	t.Run("a member of another set", func(t *testing.T) {
		differences, err := m.DiffSet(t.Context(), deploy.ApplySet{Parent: deploy.Ref{Namespace: "shop", Name: "absent"}}, objects(keep))
		var owned *deploy.OwnedError
		require.ErrorAs(t, err, &owned)
		assert.Equal(t, deploy.Conflicted, differences[0].Action)
	})
}
