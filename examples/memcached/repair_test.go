package main

import (
	"testing"

	v1 "github.com/operkit/operkit/examples/memcached/api/v1"
	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
)

func TestOwnedFieldIsPutBack(t *testing.T) {
	t.Parallel()
	w, _ := settledWorld(t)
	for _, row := range []struct {
		reason, edit string
		back         func(d *appsv1.Deployment) bool
	}{
		{"another image", `{"spec":{"template":{"spec":{"containers":[{"name":"memcached","image":"memcached:latest"}]}}}}`,
			func(d *appsv1.Deployment) bool {
				return d.Spec.Template.Spec.Containers[0].Image == image && port(d) == 11211
			}},
		{"another number by an edit, not by a scaler", `{"spec":{"replicas":1}}`,
			func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 3 }},
		{"a label that is gone", `{"metadata":{"labels":{"app.kubernetes.io/name":null}}}`,
			func(d *appsv1.Deployment) bool { return d.Labels["app.kubernetes.io/name"] == "memcached" }},
		{"what keeps root out", `{"spec":{"template":{"spec":{"securityContext":{"runAsNonRoot":false}}}}}`,
			func(d *appsv1.Deployment) bool { return *d.Spec.Template.Spec.SecurityContext.RunAsNonRoot }},
	} {
		mark := w.Mark(t)
		w.Merge(deployments, "hello", row.edit)
		w.Eventually(row.reason, func() bool { return row.back(w.deployment()) })
		w.settled()
		assert.Equal(t, 1, w.changed(mark)[writesDeployment], row.reason)
	}
}

func TestWhatOthersAddStays(t *testing.T) {
	t.Parallel()
	w, _ := settledWorld(t)
	mark := w.Mark(t)
	w.Merge(deployments, "hello", `{"metadata":{"labels":{"team":"red"}},"spec":{"minReadySeconds":1}}`)
	w.settled()
	d := w.deployment()
	assert.Equal(t, "red", d.Labels["team"])
	assert.Equal(t, int32(1), d.Spec.MinReadySeconds)
	assert.NotContains(t, w.written(mark), writesDeployment)
}

func TestDeletedDeploymentIsCreatedAgain(t *testing.T) {
	t.Parallel()
	w, _ := settledWorld(t)
	before, mark := w.deployment().UID, w.Mark(t)
	w.Delete(deployments, "hello")
	w.Eventually("there is another one", func() bool {
		obj := w.Get(deployments, "hello")
		return obj != nil && obj.GetUID() != before
	})
	w.settled()
	assert.Equal(t, 1, w.written(mark)[writesDeployment])
}

// Whoever scales by the scale subresource, an autoscaler or `kubectl scale`, is left the number: the size of the
// resource doesn't count until that one's entry in managedFields is gone, as by any other write of the number.
func TestScalerDecides(t *testing.T) {
	t.Parallel()
	w, _ := settledWorld(t)
	mark := w.Mark(t)
	w.MergeSubresource(deployments, "hello", "scale", `{"spec":{"replicas":4}}`)
	w.settled()
	assert.Equal(t, int32(4), *w.deployment().Spec.Replicas)
	assert.NotContains(t, w.written(mark), writesDeployment, "nothing is written against a scaler")

	w.Merge(v1.MemcachedKind, "hello", `{"spec":{"size":2}}`)
	w.settled()
	assert.Equal(t, int32(4), *w.deployment().Spec.Replicas, "another size is the scaler's to follow or not")

	w.Merge(deployments, "hello", `{"spec":{"replicas":5}}`)
	w.Eventually("the size counts again", func() bool { return *w.deployment().Spec.Replicas == 2 })
	w.settled()
}
