package main

import (
	"encoding/base64"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/bystander"
	v1 "github.com/operkit/operkit/examples/database/api/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// children are the kinds of a database's objects.
var children = []string{"configmaps", "secrets", "services", "persistentvolumeclaims", "statefulsets.apps", "cronjobs.batch", "jobs.batch"}

func TestDatabaseIsRolledOut(t *testing.T) {
	t.Parallel()
	w := settledWorld(t)
	assert.Equal(t, "Bound", w.field(claims, "hello-data", "status", "phase"))
	assert.Equal(t, "hello."+w.Namespace+".svc:5432", w.field(v1.DatabaseKind, "hello", "status", "endpoint"))
	password, err := base64.StdEncoding.DecodeString(w.field(secrets, "hello-binding", "data", "password"))
	require.NoError(t, err)
	assert.Len(t, password, 26)
	assert.NotNil(t, w.Get(cronJobs, "hello-backup"))

	calls := w.Calls(t, w.operator)
	assert.Equal(t, map[string]int{
		"create secrets": 1, "patch secrets": 2, "patch configmaps": 1, "patch services": 1, "patch persistentvolumeclaims": 1,
		"patch statefulsets.apps": 1, "patch cronjobs.batch": 1,
	}, calls.Of(children...).Writes().Count(), "each is written once: the Secrets of the CA, of the certificate and of the binding, too")
	assert.Empty(t, calls.Failed(), "its rights suffice")

	mark := w.Mark(t)
	w.Merge(v1.DatabaseKind, "hello", `{"metadata":{"labels":{"visits":"1"}}}`)
	w.settled()
	assert.Empty(t, w.CallsSince(t, mark, w.operator), "a settled database costs nothing")
}

// The real provisioner makes the volume larger, and Ready comes after that.
func TestDatabaseGrows(t *testing.T) {
	t.Parallel()
	w := settledWorld(t)
	mark := w.Mark(t)
	w.Merge(v1.DatabaseKind, "hello", `{"spec":{"storage":"2Gi"}}`)
	w.settled()
	assert.Equal(t, "2Gi", w.field(claims, "hello-data", "status", "capacity", "storage"))
	assert.Equal(t, map[string]int{"patch persistentvolumeclaims": 1}, w.CallsSince(t, mark, w.operator).Of(children...).Writes().Count())
}

func TestDatabaseBackupsAreDisabled(t *testing.T) {
	t.Parallel()
	w := settledWorld(t)
	mark := w.Mark(t)
	w.Merge(v1.DatabaseKind, "hello", `{"spec":{"backup":{"enabled":false}}}`)
	w.Eventually("the CronJob is gone", func() bool { return w.Get(cronJobs, "hello-backup") == nil })
	w.settled()
	assert.Equal(t, map[string]int{"delete cronjobs.batch": 1}, w.CallsSince(t, mark, w.operator).Of(children...).Writes().Count())
}

// A settled database is exported and deleted with everything, but for the archive.
func TestDatabaseIsExportedAndDeleted(t *testing.T) {
	t.Parallel()
	w := settledWorld(t)
	mark := w.Mark(t)
	w.Delete(v1.DatabaseKind, "hello")
	w.Eventually("the database is gone", func() bool { return w.database() == nil })
	w.Eventually("its objects are gone", func() bool {
		return w.Get(statefulSets, "hello") == nil && w.Get(claims, "hello-data") == nil && w.Get(secrets, "hello-binding") == nil &&
			w.Get(jobKind, "hello-export") == nil
	})
	assert.Equal(t, map[string]int{"patch jobs.batch": 1}, w.CallsSince(t, mark, w.operator).Of(children...).Writes().Count(), "the export")
	assert.Equal(t, "Bound", w.field(claims, "archive", "status", "phase"), "the export has used it")
	assert.Empty(t, w.CallsSince(t, mark, w.operator).Forbidden())
}

// An export that can't start, since its archive is missing, is made anew with a corrected spec.
func TestDatabaseExportIsMended(t *testing.T) {
	t.Parallel()
	w := settledWorld(t)
	w.Merge(v1.DatabaseKind, "hello", `{"spec":{"archive":"absent"}}`)
	w.Delete(v1.DatabaseKind, "hello")
	w.Eventually("the export is there", func() bool { return w.Get(jobKind, "hello-export") != nil })
	mark := w.Mark(t)
	w.Merge(v1.DatabaseKind, "hello", `{"spec":{"archive":"archive"}}`)
	w.Eventually("the database is gone", func() bool { return w.database() == nil })
	calls := w.CallsSince(t, mark, w.operator).Of("jobs.batch").Writes()
	assert.Equal(t, 1, calls.Count()["delete jobs.batch"], "the old Job")
	assert.Equal(t, "Bound", w.field(claims, "archive", "status", "phase"), "the new Job has used it")
}

// The export can't be created in a namespace that is being deleted, and doesn't delay its deletion.
func TestDatabaseGoesWithItsNamespace(t *testing.T) {
	t.Parallel()
	w := settledWorld(t)
	namespaces := bystander.New(t, w.api, "", "somebody")
	namespaces.Delete(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, w.Namespace)
	w.Eventually("the database is gone", func() bool { return w.database() == nil })
}

// What its definition refuses never reaches the operator.
func TestDatabaseLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, row := range []struct{ reason, name, spec, refused string }{
		{"its CronJob's name would be too long", "a123456789-123456789-123456789-123456789-12345", "{}", "at most 45 characters"},
		{"its Service's name would have a dot", "a.b", "{}", "begins with a letter and has no dots"},
		{"the size isn't one", "hello", "{storage: much}", "spec.storage"},
		{"no image", "hello", `{image: ""}`, "spec.image"},
		{"no schedule", "hello", `{backup: {schedule: ""}}`, "spec.backup.schedule"},
	} {
		db := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte("{spec: "+row.spec+"}"), &db.Object))
		db.SetGroupVersionKind(v1.DatabaseKind)
		db.SetNamespace(w.Namespace)
		db.SetName(row.name)
		_, err := w.api.Port().Create(t.Context(), db, deploy.CreateOptions{FieldManager: "somebody"})
		assert.ErrorContains(t, err, row.refused, row.reason)
	}
}
