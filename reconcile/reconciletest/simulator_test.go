package reconciletest

import (
	"context"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/status/readiness"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const container = "containers: [{name: app, image: 'x:1'}]"

var manifests = map[string]string{
	"Deployment":            "{apiVersion: apps/v1, kind: Deployment, metadata: {name: it}, spec: {replicas: 3, progressDeadlineSeconds: 600, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {" + container + "}}}}",
	"StatefulSet":           "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: it}, spec: {minReadySeconds: 3, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {" + container + "}}}}",
	"DaemonSet":             "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: it}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {" + container + "}}}}",
	"ReplicaSet":            "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: it}, spec: {replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {" + container + "}}}}",
	"Job":                   "{apiVersion: batch/v1, kind: Job, metadata: {name: it}, spec: {completions: 2, template: {spec: {restartPolicy: Never, " + container + "}}}}",
	"Pod":                   "{apiVersion: v1, kind: Pod, metadata: {name: it}, spec: {" + container + "}}",
	"Service":               "{apiVersion: v1, kind: Service, metadata: {name: it}, spec: {type: LoadBalancer, ports: [{port: 80}]}}",
	"PersistentVolumeClaim": "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: it}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}",
}

// world is a harness with one object of a manifest, and no resource.
func world(t *testing.T, manifest string, options ...Option) *Harness {
	t.Helper()
	h := New(t, market(), options...)
	h.Apply(manifest)
	return h
}

func state(t *testing.T, h *Harness, object string) readiness.State {
	t.Helper()
	obj := h.Get(object)
	require.NotNil(t, obj)
	return readiness.Of(obj).State
}

func TestSimulator(t *testing.T) {
	t.Parallel()
	for kind, manifest := range manifests {
		it := kind + " it"
		t.Run(kind+" becomes ready", func(t *testing.T) {
			t.Parallel()
			h := world(t, manifest)
			h.RunUntilSettled()
			assert.Equal(t, readiness.Ready, state(t, h, it))
			before := h.Get(it)
			h.RunUntilSettled()
			assert.Equal(t, before, h.Get(it), "and stays as it is")
		})
		t.Run(kind+" is held back until it is released", func(t *testing.T) {
			t.Parallel()
			h := New(t, market())
			h.Hold(it, "Deployment other")
			h.Apply(manifest)
			h.RunUntilSettled()
			assert.Equal(t, readiness.InProgress, state(t, h, it))
			h.Release(it)
			h.RunUntilSettled()
			assert.Equal(t, readiness.Ready, state(t, h, it))
		})
		if failures[kind] == nil {
			continue
		}
		t.Run(kind+" fails, and is mended", func(t *testing.T) {
			t.Parallel()
			h := world(t, manifest)
			h.Break(it, "out of luck")
			h.RunUntilSettled()
			assert.Equal(t, readiness.Failed, state(t, h, it))
			if kind != "PersistentVolumeClaim" {
				assert.Contains(t, readiness.Of(h.Get(it)).Message, "out of luck")
			}
			h.Release()
			h.RunUntilSettled()
			assert.Equal(t, readiness.Ready, state(t, h, it))
		})
	}
}

func TestSimulatorSeesNewGenerations(t *testing.T) {
	t.Parallel()
	h := world(t, manifests["Deployment"])
	h.RunUntilSettled()
	h.Edit("Deployment it", func(obj *unstructured.Unstructured) {
		require.NoError(t, unstructured.SetNestedField(obj.Object, int64(5), "spec", "replicas"))
	})
	assert.Equal(t, readiness.InProgress, state(t, h, "Deployment it"))
	h.RunUntilSettled()
	assert.Equal(t, readiness.Ready, state(t, h, "Deployment it"))
	ready, _, err := unstructured.NestedInt64(h.Get("Deployment it").Object, "status", "readyReplicas")
	require.NoError(t, err)
	assert.EqualValues(t, 5, ready)
}

func TestSimulatorLeavesAlone(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct{ manifest, field, want string }{
		"a headless Service": {"{apiVersion: v1, kind: Service, metadata: {name: it}, spec: {clusterIP: None}}", "clusterIP", "None"},
		"one elsewhere":      {"{apiVersion: v1, kind: Service, metadata: {name: it}, spec: {type: ExternalName, externalName: a.example.com}}", "clusterIP", ""},
		"an address given":   {"{apiVersion: v1, kind: Service, metadata: {name: it}, spec: {clusterIP: 10.1.2.3}}", "clusterIP", "10.1.2.3"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			h := world(t, row.manifest)
			h.RunUntilSettled()
			value, _, err := unstructured.NestedString(h.Get("Service it").Object, "spec", row.field)
			require.NoError(t, err)
			assert.Equal(t, row.want, value)
		})
	}
	t.Run("a Job that is suspended", func(t *testing.T) {
		t.Parallel()
		h := world(t, "{apiVersion: batch/v1, kind: Job, metadata: {name: it}, spec: {suspend: true, template: {spec: {restartPolicy: Never, "+container+"}}}}")
		h.RunUntilSettled()
		assert.Equal(t, "Suspended", readiness.Of(h.Get("Job it")).Reason)
	})
	t.Run("an object on its way out", func(t *testing.T) {
		t.Parallel()
		h := world(t, manifests["Deployment"])
		h.Edit("Deployment it", func(obj *unstructured.Unstructured) { obj.SetFinalizers([]string{"example.dev/keep"}) })
		h.Delete("Deployment it")
		h.RunUntilSettled()
		assert.Equal(t, readiness.Terminating, state(t, h, "Deployment it"))
		assert.NotContains(t, h.Get("Deployment it").Object, "status")
	})
}

func TestSimulateAKind(t *testing.T) {
	t.Parallel()
	certificates := schema.GroupKind{Group: "example.dev", Kind: "Certificate"}
	h := New(t, &shop{func(_ context.Context, s *reconcile.Session) error {
		s.Add("cert", map[string]any{"apiVersion": "example.dev/v1", "kind": "Certificate", "metadata": map[string]any{"name": "it"}},
			workload("Deployment", "web"))
		return nil
	}}, Simulate(certificates, func(obj *unstructured.Unstructured) map[string]any {
		if obj.GetLabels()["ask"] == "never" {
			return nil
		}
		return map[string]any{"revision": 1, "conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "Issued"}}}
	}), Simulate(schema.GroupKind{Group: "apps", Kind: "Deployment"}, func(*unstructured.Unstructured) map[string]any {
		return nil // never
	}))
	h.Apply(tea)
	h.RunUntilSettled()
	condition := h.Condition("Certificate it", "Ready")
	assert.Equal(t, "Issued", condition.Reason)
	assert.Equal(t, Started, condition.LastTransitionTime.UTC())
	assert.Contains(t, h.Condition("Shop tea", "Updating").Message, "Deployment web")
	assert.NotContains(t, h.Condition("Shop tea", "Updating").Message, "Certificate")
}

func TestAStuckRollout(t *testing.T) {
	t.Parallel()
	h := New(t, market())
	h.Break("Deployment tea-store", "no node")
	h.Apply(tea)
	h.RunUntilSettled()
	assert.Contains(t, h.Condition("Shop tea", "Ready").Message, "no node")
	h.Gone("ConfigMap tea-door")
	h.Release()
	h.RunUntilSettled()
	h.Ready("Shop tea")
}
