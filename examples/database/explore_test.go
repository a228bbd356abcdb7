package main

import (
	"testing"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/kit/podhash"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/reconciletest/explore"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// hash is the field with the hash of what Pods read, such as the password.
const hash = "metadata.annotations[operkit.dev/dependency-hash]"

// Kills, failed requests and edits, each of them anywhere, come to the same end as a life without them. The archive isn't
// a part of the database, so it is there from the beginning. A password that a former leader writes late replaces that of
// its successor: the server takes it over when it starts again.
func TestExplore(t *testing.T) {
	archive := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": "archive", "namespace": "default"},
		"spec": map[string]any{
			"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "10Gi"}},
		},
	}}
	explore.Run(t, func() Database { return Database{} }, explore.Definitions("config/crd"), explore.Samples("config/sample.yaml"),
		explore.Harness(reconciletest.Namespace("default"), reconciletest.With(podhash.Components()),
			reconciletest.Memory(dryrun.Objects(archive))),
		explore.Ignore("Secret * data.password", "StatefulSet * spec.template."+hash, "CronJob * spec.jobTemplate.spec.template."+hash,
			"Job * spec.template."+hash),
		explore.States(500))
}
