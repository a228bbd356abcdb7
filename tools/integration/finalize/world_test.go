package finalize

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

const (
	patience  = 3 * time.Minute
	finalizer = "departure.integration.operkit.dev/finalizer"
)

var (
	departures = schema.GroupVersionKind{Group: "integration.operkit.dev", Version: "v1", Kind: "Departure"}
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	jobs       = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
	namespaces = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	eventKind  = schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"}
)

// departure controls Departures: each is one ConfigMap, and when it goes a Job, and then a note that somebody has to
// sign.
type departure struct{ verified *atomic.Int32 }

func (departure) Kind() schema.GroupVersionKind { return departures }

func (departure) Setup(_ context.Context, s *reconcile.Session) error {
	s.Add("home", configMap(s.ScopedName("home")))
	return nil
}

// Finalize implements reconcile.Finalizer.
func (departure) Finalize(_ context.Context, s *reconcile.Session) error {
	farewell, _, _ := unstructured.NestedString(s.Resource().Object, "spec", "farewell")
	var before *reconcile.Component
	if strings.Contains(farewell, "job") {
		before = s.Add("backup", reconcile.YAML(job(s.ScopedName("backup"))))
	}
	if strings.Contains(farewell, "note") {
		note := s.Add("note")
		note.Add("", configMap(s.ScopedName("note")), reconcile.ReadyWhen(signed))
		if before != nil {
			note.After(before, reconcile.Ready)
		}
	}
	if strings.Contains(farewell, "key") {
		s.Use("key", locked{})
	}
	return nil
}

// locked is a component that needs a key, which is nowhere.
type locked struct{}

func (locked) Build(context.Context, *reconcile.Session, *reconcile.Component) error {
	return request.Precondition("there is no key")
}

// AfterVerify implements reconcile.AfterVerifier.
func (d departure) AfterVerify(_ context.Context, s *reconcile.Session, _ reconcile.Outcome) error {
	if s.Resource().GetDeletionTimestamp() != nil {
		d.verified.Add(1)
	}
	return nil
}

func signed(_ context.Context, note *unstructured.Unstructured) error {
	switch text, _, _ := unstructured.NestedString(note.Object, "data", "signature"); text {
	case "":
		return request.Precondition("nobody has signed it")
	case "torn":
		return errors.New("it is torn")
	}
	return nil
}

func configMap(name string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{"text": "x"}}
}

func job(name string) string {
	return `{apiVersion: batch/v1, kind: Job, metadata: {name: ` + name + `}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}`
}

// world is a cluster with an operator of Departures, which can be started anew.
type world struct {
	t        *testing.T
	env      *envtest.Env
	port     deploy.Port
	verified atomic.Int32
	stop     func()
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, env: envtest.Start(t, envtest.CRDs("testdata/departure.yaml"))}
	w.start()
	t.Cleanup(func() { w.stop() })
	return w
}

// start starts the operator.
func (w *world) start() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	quiet := slog.New(slog.DiscardHandler)
	api, err := cluster.New(ctx, w.env.Admin, cluster.Namespaces(w.env.Namespace), cluster.Logger(quiet))
	require.NoError(w.t, err)
	w.port = api.Port()
	engine, err := watch.New(api.View(), watch.Logger(quiet), watch.Grace(0))
	require.NoError(w.t, err)
	recorder := event.NewRecorder(api.Port(), "departures", "0", quiet)
	manager, err := deploy.NewManager(api)
	require.NoError(w.t, err)
	reconciler, err := reconcile.New(departure{&w.verified}, manager, reconcile.WithWatcher(engine), reconcile.Logger(quiet), reconcile.Events(recorder))
	require.NoError(w.t, err)
	require.NoError(w.t, engine.Control(departures, reconciler))
	var running sync.WaitGroup
	running.Go(func() { _ = engine.Run(ctx) })
	running.Go(func() { recorder.Run(ctx) })
	w.stop = sync.OnceFunc(func() { cancel(); running.Wait(); api.Wait() })
}

// departs makes a resource, and returns it once it is ready.
func (w *world) departs(farewell string) deploy.Ref {
	w.t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(w.t, yaml.Unmarshal([]byte(`{apiVersion: integration.operkit.dev/v1, kind: Departure, metadata: {name: d}, spec: {farewell: "`+farewell+`"}}`), &obj.Object))
	obj.SetNamespace(w.env.Namespace)
	_, err := w.port.Create(w.t.Context(), obj, deploy.CreateOptions{FieldManager: "somebody"})
	require.NoError(w.t, err)
	ref := deploy.RefOf(obj)
	w.says(ref, "Ready", "Verify Complete")
	return ref
}

func (w *world) ref(kind schema.GroupVersionKind, name string) deploy.Ref {
	return deploy.Ref{Kind: kind, Namespace: w.env.Namespace, Name: name}
}

// get is an object, nil if there is none.
func (w *world) get(ref deploy.Ref) *unstructured.Unstructured {
	obj, err := w.port.Get(w.t.Context(), ref)
	require.NoError(w.t, err)
	return obj
}

func (w *world) delete(ref deploy.Ref, propagation metav1.DeletionPropagation) {
	w.t.Helper()
	require.NoError(w.t, w.port.Delete(w.t.Context(), ref, deploy.DeleteOptions{Propagation: propagation}))
}

func (w *world) patch(ref deploy.Ref, kind types.PatchType, body string) {
	w.t.Helper()
	_, err := w.port.Patch(w.t.Context(), ref, deploy.PatchRequest{Type: kind, Body: []byte(body), FieldManager: "somebody"})
	require.NoError(w.t, err)
}

func (w *world) merge(ref deploy.Ref, body string) {
	w.t.Helper()
	w.patch(ref, types.MergePatchType, body)
}

func (w *world) eventually(what string, is func() bool) {
	w.t.Helper()
	require.Eventually(w.t, is, patience, 20*time.Millisecond, what)
}

func (w *world) gone(refs ...deploy.Ref) {
	w.t.Helper()
	for _, ref := range refs {
		w.eventually(ref.String()+" is gone", func() bool { return w.get(ref) == nil })
	}
}

func (w *world) there(ref deploy.Ref) {
	w.t.Helper()
	w.eventually(ref.String()+" is there", func() bool { return w.get(ref) != nil })
}

// says waits until a condition of a resource has a text in its message.
func (w *world) says(ref deploy.Ref, condition, text string) {
	w.t.Helper()
	var seen string
	w.eventually(condition+" says "+text, func() bool {
		obj := w.get(ref)
		if obj == nil {
			return false
		}
		conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
		for _, item := range conditions {
			if c, _ := item.(map[string]any); c["type"] == condition {
				seen, _ = c["message"].(string)
			}
		}
		return strings.Contains(seen, text)
	})
}

// told waits for an event, by its reason and a part of its note.
func (w *world) told(namespace, reason, note string) {
	w.t.Helper()
	w.eventually("event "+reason+" "+note, func() bool {
		events, err := w.port.List(w.t.Context(), eventKind, namespace, deploy.ListOptions{})
		require.NoError(w.t, err)
		for _, e := range events {
			text, _ := e.Object["note"].(string)
			if e.Object["reason"] == reason && strings.Contains(text, note) && strings.Contains(text+e.GetNamespace(), w.env.Namespace) {
				return true
			}
		}
		return false
	})
}
