package deploy_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestDelete(t *testing.T) {
	t.Parallel()
	uid := func(cluster *recording) string { return string(cluster.get(t, settingsRef).GetUID()) }
	ours := owned(settings(t, "{}"), reference("c"))
	unknown := object(t, "{apiVersion: shop.example.com/v1, kind: Unknown, metadata: {name: a}}")

	t.Run("deploy W14: under the uid that was looked at", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, settings(t, "{}"))
		want := "delete " + settingsName + " " + uid(cluster)
		results, err := must(deploy.NewManager(cluster, deploy.EvenForeign())).Delete(t.Context(), objects(settings(t, "{}")))
		require.NoError(t, err)
		assert.Equal(t, deploy.Removed, results[0].Action)
		assert.True(t, results.Changed())
		assert.Equal(t, []string{want}, cluster.take())
		assert.Nil(t, cluster.get(t, settingsRef))
	})
	t.Run("deploy 21: an absent object or kind costs no call", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		results, err := must(deploy.NewManager(cluster)).Delete(t.Context(), objects(settings(t, "{}"), unknown))
		require.NoError(t, err)
		assert.Equal(t, deploy.Skipped, results[0].Action)
		assert.Equal(t, deploy.Skipped, results[1].Action)
		assert.False(t, results.Changed())
		assert.Empty(t, cluster.take())
	})
	t.Run("an object that is being deleted costs no call", func(t *testing.T) {
		t.Parallel()
		held := settings(t, "{}")
		held.SetFinalizers([]string{"shop/hold"})
		cluster := newCluster(t, held)
		m := must(deploy.NewManager(cluster, deploy.EvenForeign()))
		results, err := m.Delete(t.Context(), objects(held))
		require.NoError(t, err)
		assert.Equal(t, deploy.Removed, results[0].Action)
		cluster.take()
		results, err = m.Delete(t.Context(), objects(held))
		require.NoError(t, err)
		assert.Equal(t, deploy.Skipped, results[0].Action)
		assert.Empty(t, cluster.take())
	})
	t.Run("deploy W14: what isn't ours is left alone", func(t *testing.T) {
		t.Parallel()
		for _, exists := range objects(settings(t, "{}"), owned(settings(t, "{}"), reference("other"))) {
			cluster := newCluster(t, exists)
			results, err := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c")))).Delete(t.Context(), objects(settings(t, "{}")))
			var foreign *deploy.OwnedError
			require.ErrorAs(t, err, &foreign)
			assert.True(t, foreign.Deletion)
			assert.Equal(t, deploy.Conflicted, results[0].Action)
			assert.Empty(t, cluster.take())
			assert.NotNil(t, cluster.get(t, settingsRef))
		}
	})
	t.Run("deploy W14: what may be adopted isn't ours yet", func(t *testing.T) {
		t.Parallel()
		controlled := reference("other")
		controlled.Controller = new(true)
		for reason, row := range map[string]struct {
			exists *unstructured.Unstructured
			policy deploy.Adoption
		}{
			"nobody's":                                  {settings(t, "{}"), deploy.AdoptUnowned},
			"nobody's, where everything is taken":       {settings(t, "{}"), deploy.AdoptAlways},
			"another owner's":                           {owned(settings(t, "{}"), reference("other")), deploy.AdoptAlways},
			"another controller's, beside that we'd be": {owned(settings(t, "{}"), controlled), deploy.AdoptAlways},
		} {
			cluster := newCluster(t, row.exists)
			m := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c")), deploy.Adopt(row.policy)))
			results, err := m.Delete(t.Context(), objects(settings(t, "{}")))
			var foreign *deploy.OwnedError
			require.ErrorAs(t, err, &foreign, reason)
			assert.True(t, foreign.Deletion, reason)
			assert.Equal(t, deploy.Conflicted, results[0].Action, reason)
			differences, err := m.DiffDelete(t.Context(), objects(settings(t, "{}")))
			require.ErrorAs(t, err, &foreign, reason)
			assert.Equal(t, deploy.Conflicted, differences[0].Action, reason)
			remaining, err := m.Gone(t.Context(), objects(settings(t, "{}")))
			require.NoError(t, err)
			assert.Empty(t, remaining, reason)
			assert.Empty(t, cluster.take(), reason)
			assert.NotNil(t, cluster.get(t, settingsRef), reason)
		}
	})
	t.Run("what was adopted is ours, also with the reference taken off it", func(t *testing.T) {
		t.Parallel()
		for _, edit := range []string{`{}`, `{"metadata":{"ownerReferences":null}}`} {
			cluster := newCluster(t, settings(t, "{}"))
			m := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c")), deploy.Adopt(deploy.AdoptUnowned)))
			require.NoError(t, apply(t, m, settings(t, "{a: '1'}")).Err)
			cluster.edit(t, settingsRef, edit)
			results, err := m.Delete(t.Context(), objects(settings(t, "{}")))
			require.NoError(t, err)
			assert.Equal(t, deploy.Removed, results[0].Action)
		}
	})
	t.Run("deploy W14: last one first, results in the order of the objects", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, named(settings(t, "{}"), "a"), named(settings(t, "{}"), "c"))
		bad := settings(t, "{}")
		bad.SetName("")
		set := objects(named(settings(t, "{}"), "a"), named(settings(t, "{}"), "b"), bad, named(settings(t, "{}"), "c"))
		results, err := must(deploy.NewManager(cluster, deploy.EvenForeign())).Delete(t.Context(), set)
		var invalid *deploy.InvalidManifestError
		require.ErrorAs(t, err, &invalid, "one failure doesn't keep the others")
		var actions []deploy.Action
		for _, result := range results {
			actions = append(actions, result.Action)
		}
		assert.Equal(t, []deploy.Action{deploy.Removed, deploy.Skipped, deploy.Failed, deploy.Removed}, actions)
		calls := cluster.take()
		require.Len(t, calls, 2)
		assert.Contains(t, calls[0], "delete ConfigMap shop/c")
		assert.Contains(t, calls[1], "delete ConfigMap shop/a")
	})
	t.Run("the owner's namespace", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, ours)
		obj := settings(t, "{}")
		obj.SetNamespace("")
		results, err := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c")))).Delete(t.Context(), objects(obj))
		require.NoError(t, err)
		assert.Equal(t, settingsRef, results[0].Ref)
		assert.Equal(t, deploy.Removed, results[0].Action)
	})
	t.Run("a dry run deletes nothing", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, settings(t, "{}"))
		results, err := must(deploy.NewManager(cluster)).Delete(t.Context(), objects(settings(t, "{}")), deploy.DryRun(), deploy.EvenForeign())
		require.NoError(t, err)
		assert.Equal(t, deploy.Removed, results[0].Action)
		assert.Equal(t, []string{"delete " + settingsName + " " + uid(cluster) + " dry-run"}, cluster.take())
	})
	for name, test := range map[string]struct {
		answer error
		want   deploy.Action
	}{
		"gone meanwhile":                 {&deploy.NotFoundError{Ref: settingsRef}, deploy.Skipped},
		"deploy W14: replaced meanwhile": {&deploy.StaleError{Ref: settingsRef, Err: errNo}, deploy.Failed},
		"forbidden":                      {&deploy.ForbiddenError{Err: errNo}, deploy.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t, settings(t, "{}"))
			cluster.before = failing("delete", test.answer)
			results, err := must(deploy.NewManager(cluster, deploy.EvenForeign())).Delete(t.Context(), objects(settings(t, "{}")))
			assert.Equal(t, test.want, results[0].Action)
			assert.Equal(t, test.want == deploy.Failed, err != nil)
			assert.False(t, results.Changed())
			assert.Len(t, cluster.take(), 1)
		})
	}
}

func TestGone(t *testing.T) {
	t.Parallel()
	held := named(owned(settings(t, "{}"), reference("c")), "held")
	held.SetFinalizers([]string{"shop/hold"})
	cluster := newCluster(t, held, named(owned(settings(t, "{}"), reference("other")), "foreign"), named(owned(settings(t, "{}"), reference("c")), "here"))
	m := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c"))))
	set := objects(held, named(settings(t, "{}"), "foreign"), named(settings(t, "{}"), "here"), named(settings(t, "{}"), "absent"),
		object(t, "{apiVersion: shop.example.com/v1, kind: Unknown, metadata: {name: a}}"))
	_, err := m.Delete(t.Context(), objects(held))
	require.NoError(t, err)
	cluster.take()

	remaining, err := m.Gone(t.Context(), set)
	require.NoError(t, err)
	assert.Equal(t, []deploy.Ref{deploy.RefOf(held), {Kind: configMap, Namespace: "shop", Name: "here"}}, remaining)
	remaining, err = must(deploy.NewManager(cluster, deploy.EvenForeign())).Gone(t.Context(), set[1:2])
	require.NoError(t, err)
	assert.Len(t, remaining, 1, "what may be deleted is waited for")
	_, err = m.Gone(t.Context(), []*unstructured.Unstructured{nil})
	var invalid *deploy.InvalidManifestError
	require.ErrorAs(t, err, &invalid)
	assert.Empty(t, cluster.take(), "it reads the View only")
}

func TestLocate(t *testing.T) {
	t.Parallel()
	m := must(deploy.NewManager(newCluster(t), deploy.OwnedBy(cart("c"))))
	obj := settings(t, "{}")
	obj.SetNamespace("")
	ref, err := m.Locate(t.Context(), obj)
	require.NoError(t, err)
	assert.Equal(t, settingsRef, ref)
	ref, err = m.Locate(t.Context(), object(t, "{apiVersion: v1, kind: Node, metadata: {name: first}}"))
	require.NoError(t, err)
	assert.Equal(t, "Node first", ref.String(), "a cluster-scoped object gets no namespace")
	_, err = m.Locate(t.Context(), nil)
	var invalid *deploy.InvalidManifestError
	require.ErrorAs(t, err, &invalid)
}

// What nobody owns is ours when we have applied it.
func TestDeleteWithoutAnOwner(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	ours, other := must(deploy.NewManager(cluster)), must(deploy.NewManager(cluster, deploy.FieldManager("other")))
	apply(t, ours, settings(t, "{}"))
	cluster.take()
	results, err := other.Delete(t.Context(), objects(settings(t, "{}")))
	require.EqualError(t, err, "ConfigMap shop/settings: isn't ours to delete: to delete it anyway, use kubectl or the option deploy.EvenForeign")
	assert.Equal(t, deploy.Conflicted, results[0].Action)
	assert.Empty(t, cluster.take())
	results, err = ours.Delete(t.Context(), objects(settings(t, "{}")))
	require.NoError(t, err)
	assert.Equal(t, deploy.Removed, results[0].Action)

	owned := owned(settings(t, "{}"), reference("c"))
	apply(t, ours, owned)
	_, err = other.Delete(t.Context(), objects(owned))
	require.ErrorContains(t, err, "belongs to Cart c (uid c-uid) and isn't ours to delete")
	results, err = other.Delete(t.Context(), objects(owned), deploy.EvenForeign())
	require.NoError(t, err)
	assert.Equal(t, deploy.Removed, results[0].Action)
}

func TestDeleteUntilGone(t *testing.T) {
	t.Parallel()
	held := settings(t, "{}")
	held.SetFinalizers([]string{"shop/hold"})
	t.Run("it waits", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t, held)
			time.AfterFunc(30*time.Second, func() { cluster.edit(t, settingsRef, `{"metadata":{"finalizers":null}}`) })
			start := time.Now()
			results, err := must(deploy.NewManager(cluster, deploy.EvenForeign())).Delete(t.Context(), objects(held), deploy.UntilGone())
			require.NoError(t, err)
			assert.Equal(t, deploy.Removed, results[0].Action)
			assert.Nil(t, results[0].Object)
			assert.InDelta(t, 30*time.Second, time.Since(start), float64(time.Second))
		})
	})
	t.Run("deploy W14: not for ever, and who holds it is told", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t, held)
			m := must(deploy.NewManager(cluster, deploy.EvenForeign(), deploy.UntilGone()))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			results, err := m.Delete(ctx, objects(held))
			require.EqualError(t, err, "ConfigMap shop/settings: not in time: it is being deleted and waits for the finalizers shop/hold: context deadline exceeded")
			assert.Equal(t, deploy.Failed, results[0].Action)
			time.AfterFunc(time.Second, func() { cluster.edit(t, settingsRef, `{"metadata":{"finalizers":null}}`) })
			results, err = m.Delete(t.Context(), objects(held))
			require.NoError(t, err, "one that is being deleted already is waited for too")
			assert.Equal(t, deploy.Skipped, results[0].Action)
		})
	})
	t.Run("who is interrupted isn't too late, whoever has a reason for a deadline is", func(t *testing.T) {
		t.Parallel()
		for reason, row := range map[string]struct {
			limited func(ctx context.Context) (context.Context, context.CancelFunc)
			late    bool
			says    string
		}{
			"interrupted": {context.WithCancel, false, "ConfigMap shop/settings: it is being deleted and waits for the finalizers shop/hold; the wait for it was interrupted: context canceled"},
			"a deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeoutCause(ctx, time.Minute, errNo)
			}, true, "ConfigMap shop/settings: not in time: it is being deleted and waits for the finalizers shop/hold: no"},
		} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := row.limited(t.Context())
				defer cancel()
				cluster := newCluster(t, held)
				cluster.after = func(string) error {
					if !row.late {
						cancel()
					}
					return nil
				}
				results, err := must(deploy.NewManager(cluster, deploy.EvenForeign())).Delete(ctx, objects(held), deploy.UntilGone())
				require.EqualError(t, err, row.says, reason)
				var late *deploy.TimeoutError
				assert.Equal(t, row.late, errors.As(err, &late), reason)
				assert.Equal(t, deploy.Failed, results[0].Action)
			})
		}
	})
	t.Run("for all of them together", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			other := named(held, "other")
			cluster := newCluster(t, held, other)
			start := time.Now()
			_, err := must(deploy.NewManager(cluster, deploy.EvenForeign())).Delete(t.Context(), objects(held, other), deploy.UntilGone())
			require.ErrorContains(t, err, "shop/other: not in time")
			require.ErrorContains(t, err, "shop/settings: not in time")
			assert.Equal(t, deploy.DefaultWait, time.Since(start))
		})
	})
	t.Run("not in a dry run", func(t *testing.T) {
		t.Parallel()
		results, err := must(deploy.NewManager(newCluster(t, held), deploy.EvenForeign())).Delete(t.Context(), objects(held), deploy.UntilGone(), deploy.DryRun())
		require.NoError(t, err)
		assert.Equal(t, deploy.Removed, results[0].Action)
	})
}

func TestPropagate(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, settings(t, "{}"))
	var options deploy.DeleteOptions
	cluster.deleting = func(o deploy.DeleteOptions) { options = o }
	_, err := must(deploy.NewManager(cluster, deploy.EvenForeign())).Delete(t.Context(), objects(settings(t, "{}")), deploy.Propagate(metav1.DeletePropagationBackground))
	require.NoError(t, err)
	assert.Equal(t, metav1.DeletePropagationBackground, options.Propagation)
}

func TestDeleteOrder(t *testing.T) {
	t.Parallel()
	namespace := object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")
	set := objects(settings(t, "{}"), namespace, named(settings(t, "{}"), "b"), nil)
	cluster := newCluster(t, set[:3]...)
	_, err := must(deploy.NewManager(cluster, deploy.EvenForeign())).Delete(t.Context(), set)
	require.Error(t, err, "one of them is nil")
	var order []string
	for _, call := range cluster.take() {
		order = append(order, strings.Join(strings.Fields(call)[:3], " "))
	}
	assert.Equal(t, []string{"delete ConfigMap shop/b", "delete ConfigMap shop/settings", "delete Namespace shop"}, order,
		"deploy W14: in reverse, and what others need last")
}
