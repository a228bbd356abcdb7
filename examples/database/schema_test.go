package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	v1 "github.com/operkit/operkit/examples/database/api/v1"
	"github.com/operkit/operkit/reconcile/kit/connection"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

const createTeas = "CREATE TABLE teas (name text)"

// The names of the Jobs of createTeas and of another schema.
const (
	teasJob  = "hello-schema-6e90c42ebd"
	otherJob = "hello-schema-ad52ca14a1"
)

// A schema is run once for each of its values when the server is ready. The program of another image doesn't run it
// again.
func TestDatabaseSchemaInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	h.Hold("StatefulSet hello")
	edit(t, h, createTeas, "schema")
	h.RunUntilSettled()
	h.Gone("Job " + teasJob)
	h.Release("StatefulSet hello")
	h.RunUntilSettled()
	h.Created("Job " + teasJob)
	h.Ready("Database hello")

	edit(t, h, "postgres:19", "image")
	h.RunUntilSettled()
	h.Configured("StatefulSet hello", "CronJob hello-backup")
	h.Ready("Database hello")

	edit(t, h, "CREATE TABLE cups (size int)", "schema")
	h.RunUntilSettled()
	h.Created("Job " + otherJob)
	h.Deleted("Job " + teasJob)
	edit(t, h, "", "schema")
	h.RunUntilSettled()
	h.Deleted("Job " + otherJob)
	h.Ready("Database hello")
}

// A schema that fails leaves the server and its backups alone, and a correction runs.
func TestDatabaseSchemaFailsInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	h.Break("Job "+teasJob, "the Job has failed for a reason")
	edit(t, h, createTeas, "schema")
	h.RunUntilSettled()
	h.Exists("StatefulSet hello", "CronJob hello-backup")
	assert.Contains(t, h.Condition("Database hello", status.ConditionUpdating).Message, "the Job has failed for a reason")
	edit(t, h, "CREATE TABLE cups (size int)", "schema")
	h.RunUntilSettled()
	h.Created("Job " + otherJob)
	h.Ready("Database hello")
}

// Somebody sets another password. All that reads it is rolled, once.
func TestDatabasePasswordInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	edit(t, h, createTeas, "schema")
	h.RunUntilSettled()
	h.Edit("Secret hello-binding", setPasswordIn)
	h.RunUntilSettled()
	h.Configured("StatefulSet hello", "CronJob hello-backup")
	for _, call := range h.Calls() {
		assert.False(t, call.Write() && call.Ref.Kind.Kind == "Job", call)
	}
	assert.Equal(t, int64(2), h.Get("StatefulSet hello").GetGeneration())
	h.Ready("Database hello")
	h.Restart()
	h.RunUntilSettled()
	h.Writes(0)
}

// The CA is replaced in three stages, and only the one with a new certificate restarts the server.
func TestDatabaseCAInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	h.RunUntilSettled()
	before := h.Get("Secret hello-tls-ca").Object["data"].(map[string]any)["tls.crt"]
	h.Edit("Secret hello-tls-ca", func(secret *unstructured.Unstructured) {
		annotations := secret.GetAnnotations()
		annotations["operkit.dev/renew"] = "now"
		secret.SetAnnotations(annotations)
	})
	h.Advance(4 * time.Hour)
	assert.NotEqual(t, before, h.Get("Secret hello-tls-ca").Object["data"].(map[string]any)["tls.crt"])
	assert.Equal(t, int64(2), h.Get("StatefulSet hello").GetGeneration())
	h.Ready("Database hello")
}

func setPasswordIn(secret *unstructured.Unstructured) {
	secret.Object["data"].(map[string]any)["password"] = base64.StdEncoding.EncodeToString([]byte("sesame"))
}

// Programs read the Secret that a database publishes by the names of the specification Service Binding.
func TestDatabaseBindingInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	h.RunUntilSettled()
	name, _, err := unstructured.NestedString(h.Get("Database hello").Object, "status", "binding", "name")
	require.NoError(t, err)
	binding, err := connection.Read(t.Context(), following{h}, connection.Source{Namespace: "default", Secret: name,
		Require: []connection.Part{connection.Host, connection.Port, connection.Username, connection.Password, connection.Database, connection.CA}})
	require.NoError(t, err)
	assert.Equal(t, "hello.default.svc:5432", binding.Address())
	assert.Equal(t, "postgresql", binding.Type)
}

// following reads the cluster of a harness.
type following struct{ *reconciletest.Harness }

// Get implements connection.Reader.
func (f following) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	return f.Cluster().View().Get(ctx, ref)
}

// Follow implements connection.Reader.
func (following) Follow(context.Context, deploy.Ref) error { return nil }

// A password that somebody sets rolls the Pods once.
func TestDatabasePasswordRollsOnce(t *testing.T) {
	t.Parallel()
	w := settledWorld(t)
	mark := w.Mark(t)
	w.Merge(secrets, "hello-binding", `{"stringData":{"password":"sesame"}}`)
	w.Eventually("the server has a new revision", func() bool { return w.Get(statefulSets, "hello").GetGeneration() == 2 })
	w.Eventually("so has what runs after it", func() bool { return w.Get(cronJobs, "hello-backup").GetGeneration() == 2 })
	w.settled()
	assert.Len(t, w.List(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ControllerRevision"}), 2)
	calls := w.CallsSince(t, mark, w.operator)
	writes := calls.Of("statefulsets.apps", "cronjobs.batch", "jobs.batch").Writes()
	assert.Equal(t, map[string]int{"patch statefulsets.apps": 1, "patch cronjobs.batch": 1}, writes.Count(), "each is rolled once")
	assert.Empty(t, calls.Failed(), "its rights suffice")
}

// A schema that fails says why in what kubectl get shows, and a correction runs. A temporary patch keeps the node away
// from the Pod, so that the test plays its kubelet.
func TestDatabaseSchemaSaysWhyItFails(t *testing.T) {
	t.Parallel()
	w := settledWorld(t)
	mark := w.Mark(t)
	w.CreateYAML(`{apiVersion: operkit.dev/v1, kind: TemporaryPatch, metadata: {name: by-hand}, spec: {
		apiVersion: examples.operkit.dev/v1, kind: Database, name: hello, patchType: strategic,
		patch: {schema: {job: {spec: {backoffLimit: 0, template: {spec: {nodeSelector: {played: by-hand}}}}}}}}}`)
	w.Eventually("it is patched", func() bool {
		return strings.Contains(w.database().GetAnnotations()["operkit.dev/temporary-patches"], "by-hand")
	})
	w.Merge(v1.DatabaseKind, "hello", `{"spec":{"schema":"`+createTeas+`"}}`)
	var pod *unstructured.Unstructured
	w.Eventually("its Pod is there", func() bool {
		for _, found := range w.List(pods) {
			if found.GetLabels()["batch.kubernetes.io/job-name"] == teasJob {
				pod = found
			}
		}
		return pod != nil
	})
	w.MergeSubresource(pods, pod.GetName(), "status", `{"status":{"phase":"Failed","containerStatuses":[{"name":"schema","image":"postgres:18","imageID":"",
		"ready":false,"restartCount":0,"state":{"terminated":{"exitCode":3,"reason":"Error","message":"relation \"teas\" exists\n",
		"startedAt":"2030-01-01T00:00:00Z","finishedAt":"2030-01-01T00:00:01Z"}}}]}}`)
	why := `container "schema" ended with exit code 3: relation "teas" exists`
	w.Eventually("kubectl get says why", func() bool { return strings.Contains(fmt.Sprint(w.table()...), why) })
	w.Delete(patches, "by-hand")
	w.Merge(v1.DatabaseKind, "hello", `{"spec":{"schema":"CREATE TABLE IF NOT EXISTS teas (name text)"}}`)
	w.settled()
	assert.Nil(t, w.Get(jobKind, teasJob))
	assert.Empty(t, w.CallsSince(t, mark, w.operator).Forbidden(), "its rights suffice")
}

// table returns the cells that kubectl get databases shows.
func (w *world) table() (cells []any) {
	w.t.Helper()
	client, err := rest.HTTPClientFor(w.Admin)
	require.NoError(w.t, err)
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet,
		w.Admin.Host+"/apis/examples.operkit.dev/v1/namespaces/"+w.Namespace+"/databases", nil)
	require.NoError(w.t, err)
	request.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	response, err := client.Do(request)
	require.NoError(w.t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(w.t, err)
	var table struct {
		ColumnDefinitions []struct {
			Priority int `json:"priority"`
		} `json:"columnDefinitions"`
		Rows []struct {
			Cells []any `json:"cells"`
		} `json:"rows"`
	}
	require.NoError(w.t, json.Unmarshal(content, &table), string(content))
	for i, column := range table.ColumnDefinitions {
		if column.Priority == 0 {
			cells = append(cells, table.Rows[0].Cells[i])
		}
	}
	return cells
}
