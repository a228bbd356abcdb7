package watcher

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// world is an engine with watchers on a cluster in memory, in the time of a bubble.
type world struct {
	t      *testing.T
	memory *dryrun.Cluster
	engine *watch.Engine
	begin  time.Time
	stop   func()

	mu    sync.Mutex
	lines []string
}

func newWorld(t *testing.T, watchers *Watchers[unstructured.Unstructured], opts ...watch.Option) *world {
	w := &world{t: t, begin: time.Now()}
	var err error
	w.memory, err = dryrun.New(dryrun.AnyKind())
	require.NoError(t, err)
	manager, err := deploy.NewManager(w.memory)
	require.NoError(t, err)
	reconciler, err := watchers.Reconciler(t.Context(), watch.Env{Manager: manager, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	require.NoError(t, err)
	w.engine, err = watch.New(w.memory.View(), append([]watch.Option{watch.Logger(slog.New(slog.DiscardHandler))}, opts...)...)
	require.NoError(t, err)
	require.NoError(t, w.engine.Control(items, reconciler))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.engine.Run(ctx) }()
	w.stop = func() {
		stop()
		require.NoError(t, <-ended)
		w.memory.Wait()
	}
	return w
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, fmt.Sprintf("%s "+format, append([]any{time.Since(w.begin).Round(10 * time.Millisecond)}, args...)...))
}

func (w *world) taken() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := w.lines
	w.lines = nil
	return lines
}

func (w *world) create(name string) {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(1)}}}
	object.SetGroupVersionKind(items)
	object.SetNamespace("default")
	object.SetName(name)
	_, err := w.memory.Port().Create(w.t.Context(), object, deploy.CreateOptions{FieldManager: "somebody"})
	require.NoError(w.t, err)
}

func ref(name string) deploy.Ref { return deploy.Ref{Kind: items, Namespace: "default", Name: name} }

func (w *world) patch(name, body string) {
	_, err := w.memory.Port().Patch(w.t.Context(), ref(name), deploy.PatchRequest{
		Type: "application/merge-patch+json", Body: []byte(body), FieldManager: "somebody",
	})
	require.NoError(w.t, err)
}

func (w *world) delete(name string) {
	require.NoError(w.t, w.memory.Port().Delete(w.t.Context(), ref(name), deploy.DeleteOptions{}))
}

// playRealTime plays what the cases in real time are about: a retry that takes long, while events of its object and of
// others come.
func playRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w *world
		tries := 0
		watchers := New[unstructured.Unstructured](items, Retry(Exponential(time.Second, 3)), Dequeue(nil), Add("w", Simple(Funcs[unstructured.Unstructured]{
			Add: func(_ context.Context, o *unstructured.Unstructured) error {
				if o.GetName() == "b" {
					w.note("add b")
					return nil
				}
				tries++
				w.note("add a starts")
				defer w.note("add a ends")
				if tries == 1 {
					return errors.New("not yet")
				}
				time.Sleep(10 * time.Second)
				return nil
			},
			Update: func(_ context.Context, old, o *unstructured.Unstructured) error {
				w.note("update %s %v->%v", o.GetName(), old.Object["spec"], o.Object["spec"])
				return nil
			},
		})))
		w = newWorld(t, watchers)
		time.Sleep(time.Second)
		w.create("a")
		time.Sleep(3 * time.Second)
		w.patch("a", `{"spec":{"size":2}}`)
		w.create("b")
		time.Sleep(time.Minute)
		assert.Equal(t, []string{
			"1s add a starts", "1s add a ends", "2s add a starts", "4s add b", "12s add a ends", "12s update a map[size:1]->map[size:2]",
		}, w.taken(), "the event waits for the retry of its object, and nothing else does")
		w.stop()
	})
}
