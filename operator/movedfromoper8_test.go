package operator_test

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// oper8Pod is where the old operator runs, oper8Lock the name of its lock.
	oper8Pod, oper8Lock = "bakery-oper8", "bakery"
	waits               = "another replica leads"
)

var podKind = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}

// oper8 is the old operator, with the locks of its leader_election package: what each reads, when it believes to lead,
// and what it writes then, which is applied, by force after a conflict.
type oper8 struct {
	*world
	duration time.Duration
}

// environ is its environment, as far as that is of its lock.
func (oper8) environ(lockType string) []string {
	return []string{
		afterOper8 + "=1", "PYTHON_WATCH_MANAGER_LOCK_TYPE=" + lockType, "OPERATOR_NAME=" + oper8Lock,
		"PYTHON_WATCH_MANAGER_LOCK_NAME=another", "PYTHON_WATCH_MANAGER_LOCK_NAMESPACE=kube-system",
	}
}

// apply tells whether it succeeded: somebody else may have written meanwhile.
func (o oper8) apply(content map[string]any) bool {
	o.t.Helper()
	_, err := o.api.Port().Apply(o.t.Context(), &unstructured.Unstructured{Object: content}, deploy.ApplyOptions{FieldManager: "oper8", Force: true})
	var stale *deploy.StaleError
	if errors.As(err, &stale) {
		return false
	}
	require.NoError(o.t, err)
	return true
}

// lease is LeaderWithLeaseManager.renew_or_acquire.
func (o oper8) lease() (leads bool) {
	o.t.Helper()
	now := time.Now().UTC()
	spec := map[string]any{
		"holderIdentity": oper8Pod, "acquireTime": oper8Time(now), "renewTime": oper8Time(now),
		"leaseDurationSeconds": int64(o.duration / time.Second), "leaseTransitions": int64(1),
	}
	metadata := map[string]any{"name": oper8Lock, "namespace": o.Namespace}
	if found := o.get(leases, oper8Lock); found != nil {
		have, _ := found.Object["spec"].(map[string]any)
		if have["holderIdentity"] != oper8Pod {
			renewed, err := time.Parse(time.RFC3339Nano, have["renewTime"].(string))
			require.NoError(o.t, err)
			if renewed.Add(time.Duration(have["leaseDurationSeconds"].(int64)) * time.Second).After(now) {
				return false
			}
			spec["leaseTransitions"] = have["leaseTransitions"].(int64) + 1
		} else {
			spec["acquireTime"], spec["leaseTransitions"] = have["acquireTime"], have["leaseTransitions"]
		}
		metadata["resourceVersion"] = found.GetResourceVersion()
	}
	return o.apply(map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec})
}

func oper8Time(at time.Time) string { return at.Format("2006-01-02T15:04:05.000000Z") }

// configMap is LeaderForLifeManager.renew_or_acquire.
func (o oper8) configMap(pod *unstructured.Unstructured) (leads bool) {
	o.t.Helper()
	if found := o.get(configMaps, oper8Lock); found != nil {
		owners := found.GetOwnerReferences()
		return len(owners) == 1 && owners[0].UID == pod.GetUID()
	}
	return o.apply(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
		"name": oper8Lock, "namespace": o.Namespace, "ownerReferences": []any{map[string]any{
			"apiVersion": "v1", "kind": "Pod", "name": pod.GetName(), "uid": string(pod.GetUID()), "blockOwnerDeletion": true,
		}},
	}})
}

// annotation is AnnotationLeadershipManager.acquire_resource.
func (o oper8) annotation(name string) (leads bool) {
	o.t.Helper()
	const layout = "2006-01-02T15:04:05.000000"
	resource := o.get(gadgets, name)
	annotations := resource.GetAnnotations()
	if holder := annotations["oper8.org/lease-name"]; holder != "" && holder != oper8Pod {
		renewed, err := time.Parse(layout, annotations["oper8.org/lease-time"])
		require.NoError(o.t, err, "a time that it can compare")
		if time.Now().UTC().Before(renewed.Add(o.duration)) {
			return false
		}
	}
	resource.SetAnnotations(map[string]string{"oper8.org/lease-name": oper8Pod, "oper8.org/lease-time": time.Now().UTC().Format(layout)})
	resource.SetManagedFields(nil)
	return o.apply(resource.Object)
}

// holds has the old operator renew its lock for as long as a new one would take to lead, and tells whether it kept it.
func (o oper8) holds(renew func() bool) bool {
	o.t.Helper()
	kept := true
	for range 6 {
		kept = renew() && kept
		time.Sleep(time.Second)
	}
	return kept
}

// An operator that takes the place of one written with oper8 waits for the lock that this holds, and is waited for.
func TestMovedFromOper8(t *testing.T) {
	t.Parallel()
	t.Run("watch 32, 34: one Lease, named by OPERATOR_NAME in the namespace of the Pod", func(t *testing.T) {
		t.Parallel()
		testOneLease(t)
	})
	t.Run("watch 32, 33: one ConfigMap, which the Pod owns", func(t *testing.T) {
		t.Parallel()
		testOneConfigMap(t)
	})
	t.Run("watch 35: one pair of annotations of the resource", func(t *testing.T) {
		t.Parallel()
		testOneAnnotation(t)
	})
}

func testOneLease(t *testing.T) {
	old := oper8{newWorld(t, envtest.CRDs(definitions)), 3 * time.Second}
	require.True(t, old.lease())
	p := old.processIn(old.environ("leader-with-lease"), old.replica("first", leading(t)...), brief...)
	old.eventually("it waits", p.says(waits))
	assert.Contains(t, p.log.lines(waits)[0], "leader="+oper8Pod)
	old.gadget("one", "nothing")
	assert.True(t, old.holds(old.lease))
	assert.Empty(t, p.log.lines(leads))
	assert.Empty(t, old.mode("one"), "two don't work at once")

	old.eventually("it leads once the old one is gone", p.says(leads))
	old.eventually("it works", func() bool { return old.mode("one") == "old" })
	assert.False(t, old.holds(old.lease), "and isn't overrun by an old one that is back")
	transitions, _, err := unstructured.NestedInt64(old.get(leases, oper8Lock).Object, "spec", "leaseTransitions")
	require.NoError(t, err)
	assert.Equal(t, int64(2), transitions)
	assert.Nil(t, old.get(leases, "gadget-operator"), "there is no other lock")
	assert.Nil(t, old.get(leases, "another"))

	p.send(t, syscall.SIGTERM)
	p.end(t)
	old.eventually("the way back is free, too", old.lease)
}

func testOneConfigMap(t *testing.T) {
	old := oper8{newWorld(t, envtest.CRDs(definitions)), 0}
	var pods []*unstructured.Unstructured
	for _, name := range []string{oper8Pod, "operator-first"} {
		old.create("{apiVersion: v1, kind: Pod, metadata: {name: " + name + "}, spec: {containers: [{name: operator, image: operator}]}}")
		pods = append(pods, old.get(podKind, name))
	}
	require.True(t, old.configMap(pods[0]))
	p := old.processIn(old.environ("leader-for-life"), old.replica("first", rbacv1.PolicyRule{
		Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"},
	}))
	old.eventually("it waits", p.says(waits))
	assert.Contains(t, p.log.lines(waits)[0], "leader="+oper8Pod)
	old.gadget("one", "nothing")
	assert.True(t, old.holds(func() bool { return old.configMap(pods[0]) }))
	assert.Empty(t, old.mode("one"))

	old.delete(podKind, oper8Pod)
	old.eventually("it leads once the old one's Pod is gone", p.says(leads))
	old.eventually("it works", func() bool { return old.mode("one") == "old" })
	assert.False(t, old.configMap(pods[0]))
	assert.Equal(t, []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "operator-first", UID: pods[1].GetUID()}},
		old.get(configMaps, oper8Lock).GetOwnerReferences())
	assert.Nil(t, old.get(configMaps, "gadget-operator"))
}

func testOneAnnotation(t *testing.T) {
	old := oper8{newWorld(t, envtest.CRDs(definitions)), 4 * time.Second}
	old.gadget("one", "time")
	require.True(t, old.annotation("one"))
	p := old.processIn(old.environ("annotation"), old.replica("first"), brief...)
	old.eventually("it watches", p.says("watching kind=Gadget"))
	assert.True(t, old.holds(func() bool { return old.annotation("one") }))
	assert.Empty(t, p.log.lines("takes its time"))

	old.eventually("it works once the old one is gone", p.says("takes its time"))
	assert.False(t, old.holds(func() bool { return old.annotation("one") }))
	p.letGo(t)
	old.eventually("its work ends", func() bool { return old.mode("one") == "old" })
	old.eventually("the resource is free", func() bool { return old.annotation("one") })
}
