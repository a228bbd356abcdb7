package main

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/examples/buckets/cloud"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// photos is the sample. The others are requests about it.
const (
	photos   = "Bucket photos"
	put      = "PUT /buckets/default.photos"
	get      = "GET /buckets/default.photos"
	setQuota = "PUT /buckets/default.photos/quota"
	remove   = "DELETE /buckets/default.photos"
)

// scene is the operator in memory, and its cloud.
type scene struct {
	*reconciletest.Harness
	*weather
	t      *testing.T
	client *client
	trail  bytes.Buffer
}

// newScene returns one without buckets. The cluster knows the definition of the kind.
func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{weather: newWeather(t), t: t}
	s.client = &client{url: s.URL, timeout: 10 * time.Second, poll: 10 * time.Second}
	t.Cleanup(s.client.http.CloseIdleConnections)
	short := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == "spec" {
			return slog.Attr{}
		}
		return a
	}
	trail := slog.New(slog.NewTextHandler(&s.trail, &slog.HandlerOptions{ReplaceAttr: short}))
	s.Harness = reconciletest.Drive(t, Buckets(s.client, trail),
		reconciletest.Definitions("config/crd"), reconciletest.Namespace("default"))
	return s
}

// created returns a scene with the sample, after a minute.
func created(t *testing.T) *scene {
	t.Helper()
	s := newScene(t)
	s.create()
	s.Advance(time.Minute)
	return s
}

func (s *scene) create() {
	s.t.Helper()
	sample, err := os.ReadFile("config/sample.yaml")
	require.NoError(s.t, err)
	s.Apply(string(sample))
}

// set sets a field of the spec.
func (s *scene) set(field string, value any) {
	s.t.Helper()
	s.Edit(photos, func(b *unstructured.Unstructured) { b.Object["spec"].(map[string]any)[field] = value })
}

// writes are the calls of the last run that change something in the cluster.
func (s *scene) writes() (writes []string) {
	for _, call := range s.Calls() {
		if call.Write() {
			writes = append(writes, call.String())
		}
	}
	return writes
}

// audited returns the audit trail since the last call.
func (s *scene) audited() []string {
	lines := strings.Split(strings.TrimSpace(s.trail.String()), "\n")
	s.trail.Reset()
	return lines
}

func TestBucketsLifeInMemory(t *testing.T) {
	t.Parallel()
	s := created(t)
	const finalizers = "configured Bucket default/photos"
	jobs := []string{get, setQuota, "GET /jobs/1", "GET /jobs/1", get}
	assert.Equal(t, append([]string{put}, jobs...), s.seen(), "the bucket, and then its quota")
	assert.Equal(t, []string{finalizers, finalizers}, s.writes(), "the finalizer before the call, and the one after it")
	assert.Equal(t, []string{"buckets.examples.operkit.dev/cloud"}, s.Get(photos).GetFinalizers())
	assert.Equal(t, map[string]cloud.Bucket{"default.photos": {Region: "north", Quota: 5 << 30}}, s.Buckets())
	assert.Equal(t, []string{"msg=found bucket=default.photos"}, s.audited())

	s.Advance(time.Minute)
	s.Writes(0)
	assert.Empty(t, s.seen(), "a settled bucket costs no request at all")

	s.set("public", true)
	s.Advance(time.Minute)
	s.Writes(0)
	assert.Equal(t, []string{put, get}, s.seen())
	assert.True(t, s.Buckets()["default.photos"].Public)
	assert.Equal(t, []string{"msg=changed bucket=default.photos"}, s.audited())

	s.set("quota", "7Gi")
	s.Advance(time.Minute)
	s.Writes(0)
	assert.Equal(t, []string{put, get, setQuota, "GET /jobs/2", "GET /jobs/2", get}, s.seen())
	assert.EqualValues(t, 7<<30, s.Buckets()["default.photos"].Quota)
	s.audited()

	s.Edit(photos, func(b *unstructured.Unstructured) { b.SetLabels(map[string]string{"a": "b"}) })
	s.Advance(time.Minute)
	s.Writes(0)
	assert.Empty(t, s.seen(), "only the spec counts")

	s.Delete(photos)
	s.Advance(time.Minute)
	s.Gone(photos)
	assert.Equal(t, []string{remove}, s.seen())
	assert.Equal(t, []string{finalizers}, s.writes(), "the finalizer is removed")
	assert.Empty(t, s.Buckets())
	assert.Equal(t, []string{"msg=gone bucket=default.photos"}, s.audited())
}

// A restart compares the bucket with the cloud, and mends what is missing there.
func TestBucketsRestartInMemory(t *testing.T) {
	t.Parallel()
	s := created(t)
	s.seen()
	s.Restart()
	s.Advance(time.Minute)
	s.Writes(0)
	assert.Equal(t, []string{get, get}, s.seen(), "Sync, and the quota")

	require.NoError(t, s.request("DELETE", "/buckets/default.photos"))
	s.seen()
	s.Restart()
	s.Advance(time.Minute)
	s.Writes(0)
	assert.Equal(t, []string{get, put, get, setQuota, "GET /jobs/2", "GET /jobs/2", get}, s.seen())
	assert.EqualValues(t, 5<<30, s.Buckets()["default.photos"].Quota)
}

// What changes in the cloud is seen every ten minutes.
func TestBucketsResyncInMemory(t *testing.T) {
	t.Parallel()
	s := created(t)
	require.NoError(t, s.request("DELETE", "/buckets/default.photos"))
	s.Advance(11 * time.Minute)
	s.Writes(0)
	assert.EqualValues(t, 5<<30, s.Buckets()["default.photos"].Quota)
}

// request sends a request as somebody else.
func (s *scene) request(method, path string) error {
	return s.client.send(s.t.Context(), method, path, nil, nil)
}
