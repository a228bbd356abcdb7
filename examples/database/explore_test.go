package main

import (
	"testing"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/kit/podhash"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/reconciletest/explore"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Kills, failed requests and edits, each of them anywhere, come to the same end as a life without them. Nothing is
// ignored. The archive isn't a part of the database, so it is there from the beginning.
func TestExplore(t *testing.T) {
	archive := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": "archive", "namespace": "default"},
		"spec": map[string]any{
			"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "10Gi"}},
		},
	}}
	explore.Run(t, func() Database { return Database{} }, explore.Definitions("config/crd"), explore.Samples("config/sample.yaml"),
		explore.Harness(reconciletest.Namespace("default"), reconciletest.With(podhash.Components()),
			reconciletest.Memory(dryrun.Objects(archive))), explore.States(300))
}
