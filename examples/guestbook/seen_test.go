package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var events = schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"}

// events are those about guestbooks, in the order in which they came, without their types if they are normal.
func (w *world) events() (texts []string) {
	w.t.Helper()
	all := w.List(events)
	text := func(of map[string]any, key string) string { value, _ := of[key].(string); return value }
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int { // their names end with their times
		return strings.Compare(a.GetName(), b.GetName())
	})
	for _, e := range all {
		if regarding, _ := e.Object["regarding"].(map[string]any); text(regarding, "kind") == "Guestbook" {
			texts = append(texts, strings.TrimPrefix(text(e.Object, "type")+" "+text(e.Object, "reason")+": "+text(e.Object, "note"), "Normal "))
		}
	}
	return texts
}

// event is the one of a reason.
func (w *world) event(reason string) *unstructured.Unstructured {
	w.t.Helper()
	all := w.List(events)
	at := slices.IndexFunc(all, func(e *unstructured.Unstructured) bool {
		return e.Object["reason"] == reason && e.Object["reportingController"] == "guestbook-operator"
	})
	require.GreaterOrEqual(w.t, at, 0)
	return all[at]
}

func TestEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.create()
	w.settled()
	told := []string{
		"Created: component redis: created Secret hello-redis, Service hello-redis, StatefulSet hello-redis",
		"Created: component web: created ConfigMap hello-web, Service hello-web, Deployment hello-web",
		"Ready: all components are ready: 2",
	}
	w.Eventually("a creation is told", func() bool { return len(w.events()) >= len(told) })
	assert.Equal(t, told, w.events())
	w.Merge(v1.GuestbookKind, "hello", `{"spec":{"message":"Hello again!"}}`)
	told = append(told, "Changed: component web: changed ConfigMap hello-web, Deployment hello-web")
	w.Eventually("an update is told", func() bool { return len(w.events()) >= len(told) })
	w.settled()
	w.Delete(v1.GuestbookKind, "hello")
	w.Eventually("it is gone", func() bool { return w.Get(v1.GuestbookKind, "hello") == nil })
	told = append(told, "Deleted: deleted Deployment hello-web", "Finalized: nothing is left to be finalized")
	w.Eventually("a deletion is told", func() bool { return len(w.events()) >= len(told) })
	assert.Equal(t, told, w.events(), "one for each real change, and no other")
	ready, _, err := unstructured.NestedInt64(w.event("Ready").Object, "series", "count")
	require.NoError(t, err)
	assert.EqualValues(t, 2, ready, "after the update it was ready once more, which is the same event again")
}

// receiver takes traces, as a collector does.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*trace.Span
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		var told collector.ExportTraceServiceRequest
		if err != nil || request.URL.Path != "/v1/traces" || proto.Unmarshal(body, &told) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, resource := range told.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				r.spans = append(r.spans, scope.Spans...)
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(r.Close)
	return r
}

// paths are the names of the spans of one trace, each behind those that it is part of.
func (r *receiver) paths(id []byte) (paths []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	byID := map[string]*trace.Span{}
	for _, span := range r.spans {
		byID[string(span.SpanId)] = span
	}
	for _, span := range r.spans {
		if string(span.TraceId) != string(id) {
			continue
		}
		path := span.Name
		for above := byID[string(span.ParentSpanId)]; above != nil; above = byID[string(above.ParentSpanId)] {
			path = above.Name + " > " + path
		}
		paths = append(paths, path)
	}
	return paths
}

// first is the trace of the first reconcile that changed something, nil as long as there is none.
func (r *receiver) first() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, span := range r.spans {
		if span.Name == "PATCH statefulsets" {
			return span.TraceId
		}
	}
	return nil
}

func TestTraces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t)
	p := w.start("OTEL_EXPORTER_OTLP_ENDPOINT="+r.URL, "OTEL_BSP_SCHEDULE_DELAY=200", "GUESTBOOK_OPERATOR_LOG_LEVEL=debug")
	w.Eventually("it watches", func() bool { return strings.Contains(p.Output(), "msg=watching kind=Guestbook") })
	w.create()
	w.settled()
	require.Zero(t, p.Stop(t), "what is left to be told is told at the end")
	id := r.first()
	require.NotNil(t, id, "%v", r.spans)
	paths := r.paths(id)
	for _, want := range []string{
		"Guestbook changed", "Guestbook changed > queue", "Guestbook changed > reconcile", "Guestbook changed > reconcile > deploy redis",
		"Guestbook changed > reconcile > deploy redis > PATCH secrets", "Guestbook changed > reconcile > deploy redis > PATCH statefulsets",
		"Guestbook changed > reconcile > verify redis", "Guestbook changed > reconcile > PATCH guestbooks/status",
	} {
		assert.Contains(t, paths, want)
	}
	assert.Contains(t, p.Output(), " trace_id=", "the lines of a reconcile name its trace")
}

func TestTracesWithoutACollector(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t)
	r.Close()
	p := w.start("OTEL_EXPORTER_OTLP_ENDPOINT="+r.URL, "OTEL_BSP_SCHEDULE_DELAY=100")
	w.create()
	w.settled()
	require.Zero(t, p.Stop(t))
	assert.InDelta(t, 1, strings.Count(p.Output(), "traces can't be sent"), 1, "once a minute: %s", p.Output())
	assert.Contains(t, p.Output(), "traces can't be sent")
}
