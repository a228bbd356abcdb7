package main

import (
	"net/http"
	"strings"
	"testing"

	v1 "github.com/operkit/operkit/examples/buckets/api/v1"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The counts are those of the README.
func TestBucketsLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create()
	w.settled(5 << 30)
	put, get := "PUT /buckets/"+w.name(), "GET /buckets/"+w.name()
	assert.Equal(t, []string{put, get, put + "/quota", "GET /jobs/1", "GET /jobs/1", get}, w.seen())
	assert.Equal(t, []string{"buckets.examples.operkit.dev/cloud"}, w.bucket().GetFinalizers())
	assert.Equal(t, map[string]int{"patch " + buckets: 2}, w.Calls(t, w.operator).Of(buckets).Writes().Count())

	mark := w.Mark(t)
	w.Merge(v1.BucketKind, "photos", `{"metadata":{"labels":{"a":"b"}}}`)
	w.AwaitQuiet(t, w.operator)
	assert.Empty(t, w.CallsSince(t, mark, w.operator), "a settled bucket costs no call")
	assert.Empty(t, w.seen())

	w.Merge(v1.BucketKind, "photos", `{"spec":{"public":true}}`)
	w.Eventually("it is public", func() bool { return w.Buckets()[w.name()].Public })
	w.Merge(v1.BucketKind, "photos", `{"spec":{"quota":"7Gi"}}`)
	w.settled(7 << 30)
	assert.Empty(t, w.writes(mark))

	w.process.Stop(t)
	assert.Contains(t, w.process.Output(), `"msg":"changed","bucket":"`+w.name())
	mark = w.Mark(t)
	w.seen()
	w.start()
	w.Eventually("Sync and quota are called", func() bool { return w.count(get) == 2 })
	assert.Empty(t, w.writes(mark), "a restart writes nothing")
	assert.Equal(t, []string{get, get}, w.seen())

	mark = w.Mark(t)
	w.Delete(v1.BucketKind, "photos")
	w.gone()
	assert.Equal(t, []string{"DELETE /buckets/" + w.name()}, w.seen())
	assert.Equal(t, map[string]int{"patch " + buckets: 1}, w.writes(mark))
	assert.Empty(t, w.Calls(t, w.operator).Forbidden(), "its rights suffice")
}

// A bucket with files holds the deletion, also while no operator runs.
func TestBucketsHoldsDeletions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create()
	w.settled(5 << 30)
	w.putFile(http.MethodPut)
	w.process.Kill()
	w.Delete(v1.BucketKind, "photos")
	w.start()
	remove := "DELETE /buckets/" + w.name()
	w.Eventually("the cloud refuses", func() bool { return w.count(remove) > 0 })
	w.AwaitQuiet(t, w.operator)
	require.NotNil(t, w.bucket())
	w.putFile(http.MethodDelete)
	w.command("trigger", "photos")
	w.gone()
}

// putFile puts a file into the bucket in the cloud, or deletes it.
func (w *world) putFile(method string) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), method, w.URL+"/buckets/"+w.name()+"/files/a", nil)
	require.NoError(w.t, err)
	response, err := w.Client().Do(request)
	require.NoError(w.t, err)
	require.NoError(w.t, response.Body.Close())
	require.Equal(w.t, http.StatusOK, response.StatusCode)
}

// The cloud fails at first, and an Event says why.
func TestBucketsFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.storm("PUT /buckets/"+w.name(), http.StatusInternalServerError)
	w.create()
	w.Eventually("there is an Event about it", func() bool {
		for _, event := range w.List(schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"}) {
			note, _ := event.Object["note"].(string)
			if event.Object["reason"] == "WatcherFailed" && strings.Contains(note, "500 Internal Server Error: the weather is bad") {
				return true
			}
		}
		return false
	})
	w.added()
	w.Delete(v1.BucketKind, "photos")
	w.gone()
	assert.Empty(t, w.Calls(t, w.operator).Forbidden(), "its rights suffice")
}

// The commands of the operator are for buckets, too.
func TestBucketsCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create()
	w.settled(5 << 30)
	assert.Contains(t, w.command("status"), "photos")
	assert.Contains(t, program.Run(t, program.Command("explain", "WatcherGivenUp")).Output(), "retry policy")

	w.command("pause", "photos")
	w.seen()
	w.Merge(v1.BucketKind, "photos", `{"spec":{"public":true}}`)
	w.AwaitQuiet(t, w.operator)
	assert.Empty(t, w.seen(), "it is paused")
	w.command("resume", "photos")
	w.Eventually("it goes on", func() bool { return w.Buckets()[w.name()].Public })

	w.process.Stop(t)
	assert.Contains(t, w.command("release", "--yes", "photos"), "photos")
	assert.Empty(t, w.bucket().GetFinalizers())
}
