package cluster_test

import (
	"context"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

const (
	aClaim = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`
	aPod   = `{apiVersion: v1, kind: Pod, metadata: {name: pod}, spec: {nodeSelector: {no: node}, containers: [{name: c, image: "example.invalid/c:1"}]}}`
)

func reference(obj *unstructured.Unstructured) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: obj.GetAPIVersion(), Kind: obj.GetKind(), Name: obj.GetName(), UID: obj.GetUID()}
}

// A claim that the garbage collector would delete after an object keeps that object from being made anew.
func TestRecreateKeepsClaims(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		// owner says whose the claim is: of the ConfigMap that is to be made anew, or of a Pod that this one owns.
		claim, pod func(settings, pod *unstructured.Unstructured) []metav1.OwnerReference
		options    []deploy.Option
		want       deploy.Action
	}{
		"its own": {func(settings, _ *unstructured.Unstructured) []metav1.OwnerReference {
			return []metav1.OwnerReference{reference(settings)}
		}, nil, nil, deploy.Failed},
		"that of an object of its own": {
			func(_, pod *unstructured.Unstructured) []metav1.OwnerReference {
				return []metav1.OwnerReference{reference(pod)}
			},
			func(settings, _ *unstructured.Unstructured) []metav1.OwnerReference {
				return []metav1.OwnerReference{reference(settings)}
			}, nil, deploy.Failed},
		"that of an object of somebody else": {
			func(_, pod *unstructured.Unstructured) []metav1.OwnerReference {
				return []metav1.OwnerReference{reference(pod)}
			}, nil, nil, deploy.Recreated},
		"its own, and that of an object that stays": {func(settings, pod *unstructured.Unstructured) []metav1.OwnerReference {
			return []metav1.OwnerReference{reference(settings), reference(pod)}
		}, nil, nil, deploy.Recreated},
		"its own, and that of an object that goes too": {
			func(settings, pod *unstructured.Unstructured) []metav1.OwnerReference {
				return []metav1.OwnerReference{reference(pod), reference(settings)}
			},
			func(settings, _ *unstructured.Unstructured) []metav1.OwnerReference {
				return []metav1.OwnerReference{reference(settings)}
			}, nil, deploy.Failed},
		"nobody's": {nil, nil, nil, deploy.Recreated},
		"its own, left alone": {func(settings, _ *unstructured.Unstructured) []metav1.OwnerReference {
			return []metav1.OwnerReference{reference(settings)}
		}, nil, []deploy.Option{deploy.Propagate(metav1.DeletePropagationOrphan)}, deploy.Recreated},
		"its own, with all that goes first": {func(settings, _ *unstructured.Unstructured) []metav1.OwnerReference {
			return []metav1.OwnerReference{reference(settings)}
		}, nil, []deploy.Option{deploy.Propagate(metav1.DeletePropagationForeground)}, deploy.Failed},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			env := envtest.Start(t)
			c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
			m := must(deploy.NewManager(c, append(row.options, deploy.DefaultStrategy(deploy.Recreate))...))
			before := apply(t, m, object(t, env.Namespace, aFrozen)).Object
			pod := apply(t, m, object(t, env.Namespace, aPod)).Object.DeepCopy()
			if row.pod != nil {
				pod = owned(t, c, pod, row.pod(before, pod))
			}
			claim := apply(t, m, object(t, env.Namespace, aClaim)).Object.DeepCopy()
			if row.claim != nil {
				claim = owned(t, c, claim, row.claim(before, pod))
			}
			results, err := m.Apply(t.Context(), []*unstructured.Unstructured{object(t, env.Namespace, with(aFrozen, `"1"`, `"3"`))})
			require.Equal(t, row.want, results[0].Action, "%v", err)
			if row.want == deploy.Failed {
				require.ErrorContains(t, err, "deleting the object would also delete the data of PersistentVolumeClaim data: use the strategy RecreateOrphan")
			}
			live, err := c.Port().Get(t.Context(), deploy.RefOf(claim))
			require.NoError(t, err)
			assert.Equal(t, claim.GetUID(), live.GetUID())
			assert.Nil(t, live.GetDeletionTimestamp())
		})
	}
}

// So does everything else that holds data, below an object without a namespace.
func TestRecreateKeepsWhatHoldsData(t *testing.T) {
	t.Parallel()
	const binding = `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}}`
	for kind, text := range map[string]string{
		"PersistentVolumeClaim": aClaim,
		"PersistentVolume":      `{apiVersion: v1, kind: PersistentVolume, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /a}}}`,
		"Namespace":             `{apiVersion: v1, kind: Namespace}`,
		"CustomResourceDefinition": `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {group: held.operkit.dev,
			names: {kind: Held, plural: helds, singular: held}, scope: Namespaced, versions: [{name: v1, served: true, storage: true,
			schema: {openAPIV3Schema: {type: object}}}]}}`,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			env := envtest.Start(t)
			c := newCluster(t, env.Admin)
			m := must(deploy.NewManager(c, deploy.DefaultStrategy(deploy.Recreate)))
			intent := object(t, "", binding)
			intent.SetName(env.Namespace + "-it")
			before := apply(t, m, intent)
			held := object(t, "", text)
			if kind == "PersistentVolumeClaim" {
				held.SetNamespace(env.Namespace)
			} else if held.SetName(env.Namespace + "-held"); kind == "CustomResourceDefinition" {
				held.SetName("helds.held.operkit.dev")
			}
			held.SetOwnerReferences([]metav1.OwnerReference{reference(before.Object)})
			made, err := c.Port().Create(t.Context(), held, deploy.CreateOptions{FieldManager: "other"})
			require.NoError(t, err)
			t.Cleanup(func() {
				ctx := context.WithoutCancel(t.Context())
				assert.NoError(t, c.Port().Delete(ctx, deploy.RefOf(made), deploy.DeleteOptions{}))
				assert.NoError(t, c.Port().Delete(ctx, before.Ref, deploy.DeleteOptions{}))
			})
			require.NoError(t, unstructured.SetNestedField(intent.Object, "edit", "roleRef", "name"))
			_, err = m.Apply(t.Context(), []*unstructured.Unstructured{intent})
			require.ErrorContains(t, err, "deleting the object would also delete the data of "+kind+" "+made.GetName())
			live, err := c.Port().Get(t.Context(), before.Ref)
			require.NoError(t, err)
			assert.Equal(t, before.Object.GetUID(), live.GetUID())
		})
	}
}

// owned gives obj owners, as its controller would.
func owned(t testing.TB, c *cluster.Cluster, obj *unstructured.Unstructured, owners []metav1.OwnerReference) *unstructured.Unstructured {
	t.Helper()
	obj = obj.DeepCopy()
	obj.SetOwnerReferences(owners)
	require.Eventually(t, func() bool {
		live, err := c.Port().Get(t.Context(), deploy.RefOf(obj))
		require.NoError(t, err)
		obj.SetResourceVersion(live.GetResourceVersion())
		obj.SetManagedFields(nil)
		stored, err := c.Port().Update(t.Context(), obj, deploy.UpdateOptions{FieldManager: "controller"})
		if err == nil {
			obj = stored
		}
		return err == nil
	}, patience, patience/1000)
	return obj
}

// Without the right to list claims, objects of kinds that never own any are made anew, and others are kept.
func TestRecreateWithoutTheRightToListClaims(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	user := env.User(t, "few", envtest.ClusterWide(rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"", "deploy.operkit.dev"}, Resources: []string{"configmaps", "carts"}}))
	c := newCluster(t, user.Config, cluster.Namespaces(env.Namespace))
	m := must(deploy.NewManager(c, deploy.DefaultStrategy(deploy.Recreate), deploy.Immutable(cart.GroupKind(), ".spec.size")))
	apply(t, m, object(t, env.Namespace, aFrozen))
	assert.Equal(t, deploy.Recreated, apply(t, m, object(t, env.Namespace, with(aFrozen, `"1"`, `"3"`))).Action)
}

// A StatefulSet is made anew under its Pods, which go on running: claims in its template may grow in this way.
func TestRecreateOrphan(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	c := newCluster(t, env.Admin, cluster.Namespaces(env.Namespace))
	m := must(deploy.NewManager(c))
	set := func(size string) *unstructured.Unstructured {
		return object(t, env.Namespace, `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, annotations: {operkit.dev/strategy: RecreateOrphan}},
			spec: {replicas: 1, serviceName: db, selector: {matchLabels: {app: db}}, persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete},
			template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: "example.invalid/c:1"}]}},
			volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: `+size+`}}}}]}}`)
	}
	before := apply(t, m, set("1Gi"))
	podRef := deploy.Ref{Kind: aPodKind, Namespace: env.Namespace, Name: "db-0"}
	claimRef := deploy.Ref{Kind: aClaimKind, Namespace: env.Namespace, Name: "data-db-0"}
	uids := map[deploy.Ref]types.UID{}
	for _, ref := range []deploy.Ref{podRef, claimRef} {
		require.Eventually(t, func() bool {
			obj, err := c.Port().Get(t.Context(), ref)
			if err != nil || obj == nil || len(obj.GetOwnerReferences()) == 0 {
				return false
			}
			uids[ref] = obj.GetUID()
			return obj.GetOwnerReferences()[0].UID == before.Object.GetUID()
		}, patience, patience/1000, ref)
	}
	after := apply(t, m, set("2Gi"))
	require.Equal(t, deploy.Recreated, after.Action)
	for _, ref := range []deploy.Ref{podRef, claimRef} {
		require.Eventually(t, func() bool {
			obj, err := c.Port().Get(t.Context(), ref)
			require.NoError(t, err)
			require.Equal(t, uids[ref], obj.GetUID())
			require.Nil(t, obj.GetDeletionTimestamp())
			return len(obj.GetOwnerReferences()) == 1 && obj.GetOwnerReferences()[0].UID == after.Object.GetUID()
		}, patience, patience/1000, "%s: adopted by the new one", ref)
	}
	assert.Equal(t, deploy.Unchanged, apply(t, m, set("2Gi")).Action)
}
