package versions_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// world is a cluster in memory and what reconciles a kind in it, for tests that reconcile by themselves.
type world struct {
	memory     *dryrun.Cluster
	reconciler *reconcile.Reconciler

	mu     sync.Mutex
	events []event.Event
}

func newWorld(t testing.TB, controller reconcile.Controller, options ...reconcile.Option) *world {
	t.Helper()
	memory, err := dryrun.New(dryrun.Schemaless())
	require.NoError(t, err)
	w := &world{memory: memory}
	options = append([]reconcile.Option{reconcile.Logger(slog.New(slog.DiscardHandler)), reconcile.Events(event.Func(w.record))}, options...)
	manager, err := deploy.NewManager(memory)
	require.NoError(t, err)
	w.reconciler, err = reconcile.New(controller, manager, options...)
	require.NoError(t, err)
	return w
}

func (w *world) record(e event.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

// recorded are the notes of the events of a reason.
func (w *world) recorded(reason string) (notes []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if e.Reason == reason {
			notes = append(notes, e.Note)
		}
	}
	return notes
}

// put has an object be in the namespace test of the cluster.
func (w *world) put(t testing.TB, obj *unstructured.Unstructured) {
	t.Helper()
	obj = obj.DeepCopy()
	obj.SetNamespace("test")
	_, err := w.memory.Port().Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: "somebody", Force: true})
	require.NoError(t, err)
}

func (w *world) get(t testing.TB, kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	t.Helper()
	obj, err := w.memory.View().Get(t.Context(), deploy.Ref{Kind: kind, Namespace: "test", Name: name})
	require.NoError(t, err)
	return obj
}

// reconcile reconciles a resource once.
func (w *world) reconcile(ctx context.Context, name string, attempt ...int) (request.Result, error) {
	req := request.Request{Key: deploy.Ref{Kind: w.reconciler.Kind(), Namespace: "test", Name: name}}
	for _, n := range attempt {
		req.Attempt = n
	}
	return w.reconciler.Reconcile(ctx, req)
}

// persist reconciles a resource until that is no error, as an engine does.
func (w *world) persist(ctx context.Context, name string) error {
	for attempt := 0; ; attempt++ {
		_, err := w.reconcile(ctx, name, attempt)
		if err == nil || attempt == 100 {
			return err
		}
		after, ok := request.RetryTime(err)
		if !ok {
			after = 10 * time.Millisecond
		}
		time.Sleep(after)
	}
}

// logs keeps what is logged, a line of JSON each.
type logs struct{ testlog.Text }

func (l *logs) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: level}))
}

// line is the line with a message, without its time; nil if there is none.
func (l *logs) line(t testing.TB, message string) map[string]any {
	t.Helper()
	for text := range strings.Lines(l.String()) {
		var line map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &line), text)
		if line["msg"] == message {
			delete(line, "time")
			return line
		}
	}
	return nil
}

// soon waits until something is so.
func soon(t testing.TB, is func() bool, what string) {
	t.Helper()
	require.Eventually(t, is, 20*time.Second, 2*time.Millisecond, what)
}

// runs tells whether there is a process of that id, other than as what is left of one until its parent has looked.
func runs(t testing.TB, pid int) bool {
	t.Helper()
	require.Greater(t, pid, 1)
	status, err := os.ReadFile(filepath.Join("/proc", itoa(pid), "stat"))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(status), ") ")
	return !strings.HasPrefix(after, "Z")
}

// kill kills one process.
func kill(t testing.TB, pid int) {
	t.Helper()
	require.Greater(t, pid, 1)
	process, err := os.FindProcess(pid)
	require.NoError(t, err)
	_ = process.Kill() // it may have ended by itself
	assert.NoError(t, process.Release())
}

// ownedBy are the references of what an object owns.
func ownedBy(obj *unstructured.Unstructured) []metav1.OwnerReference {
	controls := true
	return []metav1.OwnerReference{{APIVersion: obj.GetAPIVersion(), Kind: obj.GetKind(), Name: obj.GetName(), UID: obj.GetUID(), Controller: &controls}}
}
