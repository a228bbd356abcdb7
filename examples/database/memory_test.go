package main

import (
	"os"
	"testing"

	"github.com/operkit/operkit/reconcile/kit/podhash"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// inMemory has the sample in a cluster in memory, which knows the definition of its kind.
func inMemory(t *testing.T) *reconciletest.Harness {
	t.Helper()
	sample, err := os.ReadFile("config/sample.yaml")
	require.NoError(t, err)
	h := reconciletest.New(t, Database{}, reconciletest.Definitions("config/crd"), reconciletest.Namespace("default"),
		reconciletest.With(podhash.Components()))
	h.Apply(string(sample))
	return h
}

// edit sets a field of the spec.
func edit(t *testing.T, h *reconciletest.Harness, value any, path ...string) {
	t.Helper()
	h.Edit("Database hello", func(db *unstructured.Unstructured) {
		require.NoError(t, unstructured.SetNestedField(db.Object, value, append([]string{"spec"}, path...)...))
	})
}

func TestDatabaseRolloutInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	h.RunUntilSettled()
	h.Created("Secret hello-binding", "Service hello", "PersistentVolumeClaim hello-data", "StatefulSet hello", "CronJob hello-backup")
	h.Ready("Database hello")

	h.RunUntilSettled()
	h.Writes(0) // a settled database costs nothing

	edit(t, h, "postgres:19", "image")
	h.RunUntilSettled()
	h.Configured("StatefulSet hello", "CronJob hello-backup")
	h.Ready("Database hello")
}

// The whole status of a database that is ready, and of one that starts.
func TestDatabaseStatusInMemory(t *testing.T) {
	t.Parallel()
	for file, prepare := range map[string]func(h *reconciletest.Harness){
		"ready.yaml":    func(*reconciletest.Harness) {},
		"starting.yaml": func(h *reconciletest.Harness) { h.Hold("StatefulSet hello") },
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			h := inMemory(t)
			prepare(h)
			h.RunUntilSettled()
			reported, err := yaml.Marshal(map[string]any{"status": h.Get("Database hello").Object["status"]})
			require.NoError(t, err)
			want, err := os.ReadFile("testdata/" + file)
			require.NoError(t, err)
			assert.YAMLEq(t, string(want), string(reported), "it reports\n%s", reported)
		})
	}
}

// Everything that is rendered. `go test . -run Golden -update` writes it.
func TestDatabaseGoldenInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	h.Golden("Database hello", "sample")
}

// Backups need a ready server and an archive. Without one of them, or when they are disabled, there is no CronJob.
func TestDatabaseBackupsInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	h.Hold("StatefulSet hello")
	h.RunUntilSettled()
	h.Gone("CronJob hello-backup")
	h.Release("StatefulSet hello")
	h.RunUntilSettled()
	h.Exists("CronJob hello-backup")

	edit(t, h, false, "backup", "enabled")
	h.RunUntilSettled()
	h.Deleted("CronJob hello-backup")
	h.Ready("Database hello")

	edit(t, h, true, "backup", "enabled")
	h.RunUntilSettled()
	h.Created("CronJob hello-backup")

	edit(t, h, "", "archive")
	h.RunUntilSettled()
	h.Deleted("CronJob hello-backup")
	h.Ready("Database hello")
}

// The server is there, and the status names the mistake. The claim, once it is created, brings the backups.
func TestDatabaseWithoutItsArchiveInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	archive := h.Get("PersistentVolumeClaim archive").DeepCopy()
	h.Delete("PersistentVolumeClaim archive")
	h.RunUntilSettled()
	h.Exists("StatefulSet hello")
	h.Gone("CronJob hello-backup")
	ready := h.Condition("Database hello", status.ConditionReady)
	assert.Equal(t, "ConfigError", ready.Reason)
	assert.Contains(t, ready.Message, "spec.archive: there is no claim archive: create it, or remove the field")

	h.Apply(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "PersistentVolumeClaim",
		"metadata": map[string]any{"name": "archive"}, "spec": archive.Object["spec"]}})
	h.RunUntilSettled()
	h.Created("CronJob hello-backup")
	h.Ready("Database hello")
}

// Ready means that the volume has the size that the spec wants.
func TestDatabaseGrowsInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	h.RunUntilSettled()
	h.Hold("PersistentVolumeClaim hello-data")
	edit(t, h, "2Gi", "storage")
	h.RunUntilSettled()
	h.Configured("PersistentVolumeClaim hello-data")
	ready := h.Condition("Database hello", status.ConditionReady)
	assert.Equal(t, "False", string(ready.Status))
	assert.Contains(t, ready.Message, "the volume grows from 1Gi to 2Gi")

	h.Release("PersistentVolumeClaim hello-data")
	h.RunUntilSettled()
	h.Ready("Database hello")
}

// The usual rule counts beside the rule about the size.
func TestDatabaseWithALostVolumeInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	h.RunUntilSettled()
	h.Break("PersistentVolumeClaim hello-data", "")
	h.RunUntilSettled()
	assert.Contains(t, h.Condition("Database hello", status.ConditionReady).Message, "the volume of the claim is lost")
}

// The data is exported before anything is deleted. Without an archive there is nothing to wait for.
func TestDatabaseDeletionInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	h.RunUntilSettled()
	h.Hold("Job hello-export")
	h.Delete("Database hello")
	h.RunUntilSettled()
	h.Created("Job hello-export")
	h.Exists("Database hello", "StatefulSet hello", "Secret hello-binding", "PersistentVolumeClaim hello-data")
	assert.Contains(t, h.Condition("Database hello", status.ConditionUpdating).Message, "export: Job hello-export: InProgress")

	h.Release("Job hello-export")
	h.RunUntilSettled()
	h.Gone("Database hello", "StatefulSet hello", "Secret hello-binding", "PersistentVolumeClaim hello-data")
	h.Exists("PersistentVolumeClaim archive")
}

func TestDatabaseDeletionWithoutAnArchiveInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	edit(t, h, "", "archive")
	h.RunUntilSettled()
	h.Delete("Database hello")
	h.RunUntilSettled()
	h.Gone("Database hello", "Job hello-export")
}

// The spec of a database that is being deleted can still be changed: no archive, no export.
func TestDatabaseDeletionThatHangsInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	h.RunUntilSettled()
	h.Break("Job hello-export", "no such claim")
	h.Delete("Database hello")
	h.RunUntilSettled()
	assert.Contains(t, h.Condition("Database hello", status.ConditionUpdating).Message, "no such claim")
	edit(t, h, "", "archive")
	h.RunUntilSettled()
	h.Gone("Database hello")
}

// A correction of the spec makes the export anew, since the template of a Job can't be changed.
func TestDatabaseDeletionIsMendedInMemory(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, field, value string }{
		{"another image", "image", "postgres:19"},
		{"another archive", "archive", "other"},
	} {
		t.Run(row.field, func(t *testing.T) {
			t.Parallel()
			h := inMemory(t)
			h.RunUntilSettled()
			h.Break("Job hello-export", "it can't start")
			h.Delete("Database hello")
			h.RunUntilSettled()
			h.Created("Job hello-export")
			broken := h.Get("Job hello-export").GetUID()

			h.Hold("Job hello-export")
			edit(t, h, row.value, row.field)
			h.RunUntilSettled()
			mended := h.Get("Job hello-export")
			assert.NotEqual(t, broken, mended.GetUID(), row.reason)
			text, err := yaml.Marshal(mended.Object["spec"])
			require.NoError(t, err)
			assert.Contains(t, string(text), ": "+row.value+"\n", row.reason)

			h.Release("Job hello-export")
			h.RunUntilSettled()
			h.Gone("Database hello")
		})
	}
}

func TestDatabasePasswordIsKeptInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	h.RunUntilSettled()
	before := h.Get("Secret hello-binding").Object["data"]
	h.Restart()
	edit(t, h, "postgres:19", "image")
	h.RunUntilSettled()
	assert.Equal(t, before, h.Get("Secret hello-binding").Object["data"])
}
