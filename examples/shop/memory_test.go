package main

import (
	"testing"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The webhooks in milliseconds: the harness asks them about every write, as the API server does.
func TestWebhooksInMemory(t *testing.T) {
	t.Parallel()
	s := &streets{}
	h := reconciletest.New(t, Shop{}, reconciletest.Definitions("config/crd"), reconciletest.Admission(hooks(s)))
	s.port = h.Cluster().Port()
	h.Apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: high-street}, data: {colours: "green,blue"}}`)
	h.Apply(`{apiVersion: examples.operkit.dev/v2, kind: Shop, metadata: {name: tea}, spec: {replicas: 2, street: high-street}}`)
	h.RunUntilSettled()
	h.Ready("Shop tea")
	colour, _, _ := unstructured.NestedString(h.Get("Shop tea").Object, "spec", "appearance", "colour")
	assert.Equal(t, "green", colour, "the first colour of the street")
	err := h.TryEdit("Shop tea", func(shop *unstructured.Unstructured) {
		require.NoError(t, unstructured.SetNestedField(shop.Object, "red", "spec", "appearance", "colour"))
	})
	assert.ErrorContains(t, err, `spec.appearance.colour: Unsupported value: "red"`)
}
