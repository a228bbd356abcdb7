package main

import (
	"testing"

	v1 "github.com/operkit/operkit/examples/from-kopf/api/v1"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The counts are those of the README.
func TestFromKopfLife(t *testing.T) {
	t.Parallel()
	w := settledWorld(t)
	assert.Equal(t, "1Gi", w.text("spec", "resources", "requests", "storage"))
	assert.Equal(t, "me", w.text("metadata", "labels", "owner"))
	assert.Equal(t, map[string]int{"patch " + claims: 2, "patch " + claims + "/status": 1, "patch " + volumes: 2},
		w.Calls(t, w.operator).Of(claims, volumes).Writes().Count())

	mark := w.Mark(t)
	w.bind()
	w.awaitCapacity("1Gi")
	assert.Equal(t, map[string]int{"patch " + claims + "/status": 1}, w.writes(mark), "the measurement")

	mark = w.Mark(t)
	w.Merge(v1.EphemeralVolumeClaimKind, "hello", `{"spec":{"size":"2Gi"}}`)
	w.awaitCapacity("2Gi")
	assert.Equal(t, map[string]int{"patch " + claims: 1, "patch " + claims + "/status": 2, "patch " + volumes: 1}, w.writes(mark))

	mark = w.Mark(t)
	w.Merge(v1.EphemeralVolumeClaimKind, "hello", `{"metadata":{"labels":{"owner":null,"zone":"a"}}}`)
	w.Eventually("the labels are passed on", func() bool {
		return w.text("metadata", "labels", "zone") == "a" && w.text("metadata", "labels", "owner") == "" &&
			w.text("metadata", "labels", "app") == "hello"
	})
	assert.Equal(t, map[string]int{"patch " + claims: 3, "patch " + volumes: 2}, w.writes(mark), "two steps")

	w.process.Stop(t)
	mark = w.Mark(t)
	w.start()
	w.Eventually("the operator works again", func() bool { return len(w.CallsSince(t, mark, w.operator).Of(claims).Watches()) > 0 })
	assert.Empty(t, w.writes(mark), "a restart writes nothing")

	w.Delete(podKind, "web")
	w.gone(podKind, "web")
	mark = w.Mark(t)
	w.Delete(v1.EphemeralVolumeClaimKind, "hello")
	w.gone(v1.EphemeralVolumeClaimKind, "hello")
	w.gone(pvcKind, "hello")
	written := w.writes(mark)
	assert.LessOrEqual(t, written["patch "+claims], 2, "the record, if the daemon isn't back yet, and the finalizer")
	assert.Zero(t, written["patch "+volumes], "the cluster deletes the PVC")
	assert.Empty(t, w.Calls(t, w.operator).Forbidden(), "its rights suffice")
}

// What happens while no operator runs is handled after its start, and counts as one update.
func TestFromKopfMissesNothing(t *testing.T) {
	t.Parallel()
	w := settledWorld(t)
	w.bind()
	w.process.Kill()
	mark := w.Mark(t)
	w.Merge(v1.EphemeralVolumeClaimKind, "hello", `{"spec":{"size":"2Gi"}}`)
	w.Merge(v1.EphemeralVolumeClaimKind, "hello", `{"spec":{"size":"3Gi"},"metadata":{"labels":{"owner":"you"}}}`)
	w.start()
	w.Eventually("both changes are passed on", func() bool {
		return w.text("metadata", "labels", "owner") == "you" && w.text("spec", "resources", "requests", "storage") == "3Gi"
	})
	assert.Equal(t, 2, w.writes(mark)["patch "+volumes])
}

// A spec that can't be compressed is too large for the record in an annotation. It delays no deletion.
func TestFromKopfLargeSpec(t *testing.T) {
	t.Parallel()
	w := settledWorld(t)
	w.bind()
	w.Merge(v1.EphemeralVolumeClaimKind, "hello", `{"spec":{"note":"`+noise(300<<10)+`"}}`)
	w.Merge(v1.EphemeralVolumeClaimKind, "hello", `{"spec":{"size":"2Gi"}}`)
	w.Eventually("the PVC has grown", func() bool { return w.text("spec", "resources", "requests", "storage") == "2Gi" })
	w.AwaitQuiet(t, w.operator)
	w.Delete(podKind, "web")
	w.gone(podKind, "web")
	w.Delete(v1.EphemeralVolumeClaimKind, "hello")
	w.gone(v1.EphemeralVolumeClaimKind, "hello")
	assert.Empty(t, w.Calls(t, w.operator).Forbidden(), "its rights suffice")
}

// The claim of a Pod is deleted when the Pod is gone. A volume that isn't bound yet grows when it is.
func TestFromKopfWaits(t *testing.T) {
	t.Parallel()
	w := settledWorld(t)
	w.Merge(v1.EphemeralVolumeClaimKind, "hello", `{"spec":{"size":"2Gi"}}`)
	assert.Contains(t, w.awaitCondition("Grown", metav1.ConditionFalse).Message, "the PVC has no volume yet")
	w.bind()
	w.awaitCondition("Grown", metav1.ConditionTrue)
	w.Delete(v1.EphemeralVolumeClaimKind, "hello")
	w.AwaitQuiet(t, w.operator)
	assert.NotNil(t, w.Get(v1.EphemeralVolumeClaimKind, "hello"))
	w.Delete(podKind, "web")
	w.gone(v1.EphemeralVolumeClaimKind, "hello")
	w.gone(pvcKind, "hello")
}

func TestFromKopfBadInput(t *testing.T) {
	t.Parallel()
	t.Run("a size that is none", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		claim := w.CreateYAML("{apiVersion: examples.operkit.dev/v1, kind: EphemeralVolumeClaim, metadata: {name: hello}, spec: {size: -1Gi}}")
		assert.Contains(t, w.awaitCondition("Claimed", metav1.ConditionFalse).Message, "spec.resources[storage]: Invalid value")
		w.Merge(v1.EphemeralVolumeClaimKind, claim.GetName(), `{"spec":{"size":"1Gi"}}`)
		w.awaitCondition("Claimed", metav1.ConditionTrue)
	})
	t.Run("a smaller size", func(t *testing.T) {
		t.Parallel()
		w := settledWorld(t)
		mark := w.Mark(t)
		w.Merge(v1.EphemeralVolumeClaimKind, "hello", `{"spec":{"size":"1Mi"}}`)
		assert.Contains(t, w.awaitCondition("Grown", metav1.ConditionFalse).Message, "a volume can't shrink from 1Gi to 1Mi")
		assert.Zero(t, w.writes(mark)["patch "+volumes])
	})
	t.Run("a PVC of somebody else", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.CreateYAML(theirs)
		w.CreateFile("config/sample.yaml")
		assert.Contains(t, w.awaitCondition("Claimed", metav1.ConditionFalse).Message, "was not created for this owner")
		w.Merge(v1.EphemeralVolumeClaimKind, "hello", `{"metadata":{"labels":{"owner":"you"}}}`)
		w.AwaitQuiet(t, w.operator)
		w.Delete(v1.EphemeralVolumeClaimKind, "hello")
		w.gone(v1.EphemeralVolumeClaimKind, "hello")
		assert.Equal(t, "them", w.text("metadata", "labels", "owner"))
		assert.Zero(t, w.Calls(t, w.operator).Of(volumes).Writes().Count()["patch "+volumes])
	})
	t.Run("a missing right", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, envtest.InNamespace(
			rbacv1.PolicyRule{APIGroups: []string{"examples.operkit.dev"}, Resources: []string{"ephemeralvolumeclaims"}, Verbs: []string{"get", "list", "watch", "patch"}},
			rbacv1.PolicyRule{APIGroups: []string{"examples.operkit.dev"}, Resources: []string{"ephemeralvolumeclaims/status"}, Verbs: []string{"patch"}},
			rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"persistentvolumeclaims", "pods"}, Verbs: []string{"get", "list", "watch"}},
		))
		w.CreateFile("config/sample.yaml")
		assert.Contains(t, w.awaitCondition("Claimed", metav1.ConditionFalse).Message, "persistentvolumeclaims")
		w.Delete(v1.EphemeralVolumeClaimKind, "hello")
		w.gone(v1.EphemeralVolumeClaimKind, "hello")
	})
}
