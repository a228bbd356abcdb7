package watch

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	widgets    = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Widget"}
	regions    = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Region"}
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	secrets    = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
)

// inBubble runs a test in which time stands still while anything can be done, and passes at
// once when all wait. It ends only when every goroutine has.
func inBubble(t *testing.T, reason string, test func(w *world)) {
	t.Helper()
	t.Run(reason, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) { test(newWorld(t)) })
	})
}

// world is a cluster in memory with an engine over it and a reconciler of widgets.
type world struct {
	*view
	*reconciler
	t    *testing.T
	logs *testlog.Text
	// sources are what the reconciler of widgets declares.
	sources source.Sources
	// stop ends the engine and returns what Run did.
	stop func() error
	end  context.CancelFunc
	// lost ends the leadership that the engine runs under.
	lost chan struct{}
}

func newWorld(t *testing.T) *world {
	t.Helper()
	memory, err := dryrun.New(dryrun.Schemaless(), dryrun.AnyKind(regions.GroupKind()))
	require.NoError(t, err)
	t.Cleanup(memory.Wait)
	return &world{view: &view{View: memory.View(), memory: memory}, reconciler: &reconciler{}, t: t, logs: &testlog.Text{}}
}

func (w *world) logger() *slog.Logger { return slog.New(slog.NewTextHandler(w.logs, nil)) }

func (w *world) engine(options ...Option) *Engine {
	w.t.Helper()
	options = append([]Option{Logger(w.logger())}, options...)
	engine, err := New(w.view, options...)
	require.NoError(w.t, err)
	require.NoError(w.t, engine.Control(widgets, w.as(w.sources)))
	return engine
}

// declare sets what the reconciler of widgets declares.
func (w *world) declare(sources source.Sources) { w.sources = sources }

// declaring is a reconciler with Sources.
type declaring struct {
	*reconciler
	sources source.Sources
}

func (d declaring) Sources() source.Sources { return d.sources }

// as is the reconciler of the world with sources.
func (w *world) as(sources source.Sources) Reconciler { return declaring{w.reconciler, sources} }

// start runs an engine and waits until it has nothing to do.
func (w *world) start(options ...Option) *Engine {
	w.t.Helper()
	engine := w.engine(options...)
	w.run(engine)
	synctest.Wait()
	return engine
}

func (w *world) run(engine *Engine) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(leader.WithTerm(w.t.Context(), leader.Term{Lost: w.lost}))
	w.end = cancel
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(ctx) }()
	w.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	w.t.Cleanup(func() { _ = w.stop() })
}

// settle waits until the engine has nothing to do at present, and returns the keys that were
// reconciled since the last look, in their order.
func (w *world) settle() []string {
	w.t.Helper()
	synctest.Wait()
	return w.taken()
}

// pass lets time pass, and then all be done that is due.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	time.Sleep(d)
	synctest.Wait()
}

func (w *world) create(obj *unstructured.Unstructured) *unstructured.Unstructured {
	w.t.Helper()
	applied, err := w.memory.Port().Apply(w.t.Context(), obj, deploy.ApplyOptions{FieldManager: "somebody"})
	require.NoError(w.t, err)
	return applied.Object
}

func (w *world) merge(obj *unstructured.Unstructured, body string) {
	w.t.Helper()
	w.patch(obj, body, "")
}

func (w *world) mergeStatus(obj *unstructured.Unstructured, body string) {
	w.t.Helper()
	w.patch(obj, body, "status")
}

func (w *world) patch(obj *unstructured.Unstructured, body, subresource string) {
	w.t.Helper()
	_, err := w.memory.Port().Patch(w.t.Context(), deploy.RefOf(obj), deploy.PatchRequest{
		Type: types.MergePatchType, Body: []byte(body), Subresource: subresource, FieldManager: "somebody",
	})
	require.NoError(w.t, err)
}

func (w *world) delete(obj *unstructured.Unstructured) {
	w.t.Helper()
	require.NoError(w.t, w.memory.Port().Delete(w.t.Context(), deploy.RefOf(obj), deploy.DeleteOptions{}))
}

func object(kind schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(kind)
	obj.SetNamespace(namespace)
	obj.SetName(name)
	return obj
}

func widget(name string) *unstructured.Unstructured {
	obj := object(widgets, "shop", name)
	obj.Object["spec"] = map[string]any{"size": int64(1)}
	return obj
}

func key(name string) deploy.Ref {
	return deploy.Ref{Kind: widgets, Namespace: "shop", Name: name}
}

// child is a ConfigMap of the owners, referred to as of another version of their kind.
func child(name string, owners ...*unstructured.Unstructured) *unstructured.Unstructured {
	obj := object(configMaps, "shop", name)
	references := make([]metav1.OwnerReference, len(owners))
	for i, owner := range owners {
		references[i] = metav1.OwnerReference{
			APIVersion: owner.GroupVersionKind().Group + "/v1beta1", Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(),
		}
	}
	obj.SetOwnerReferences(references)
	return obj
}

// reconciler keeps what it is asked for. The functions are set before the engine starts.
type reconciler struct {
	do func(ctx context.Context, req request.Request) (request.Result, error)

	mu       sync.Mutex
	requests []request.Request
	times    []time.Time
	looked   int
}

func (r *reconciler) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	r.mu.Lock()
	r.requests = append(r.requests, req)
	r.times = append(r.times, time.Now())
	r.mu.Unlock()
	if r.do == nil {
		return request.Result{}, nil
	}
	return r.do(ctx, req)
}

func (r *reconciler) taken() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var keys []string
	for _, req := range r.requests[r.looked:] {
		keys = append(keys, req.Key.String())
	}
	r.looked = len(r.requests)
	slices.Sort(keys)
	return keys
}

// why are the triggers of the requests since the last look.
func (r *reconciler) why() (all []string) {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, req := range r.requests[r.looked:] {
		all = append(all, req.Triggers.String())
	}
	r.looked = len(r.requests)
	return all
}

// attempts are the Attempt of each request and the time since the one before.
func (r *reconciler) attempts() (attempts []int, gaps []time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, req := range r.requests {
		attempts = append(attempts, req.Attempt)
		if i > 0 {
			gaps = append(gaps, r.times[i].Sub(r.times[i-1]))
		}
	}
	return attempts, gaps
}

// view is the View of a cluster in memory that may be unable to watch kinds.
type view struct {
	deploy.View
	memory *dryrun.Cluster

	mu         sync.Mutex
	refuse     map[schema.GroupVersionKind]error
	unsynced   map[schema.GroupVersionKind]error
	subscribed []string
	// handlers are those of each kind.
	handlers map[schema.GroupVersionKind][]func(deploy.Event)
	// asking, when set, is called before a kind is subscribed to.
	asking func(ctx context.Context, kind schema.GroupVersionKind)
}

func (v *view) Subscribe(ctx context.Context, kind schema.GroupVersionKind, handle func(deploy.Event)) (deploy.Subscription, error) {
	v.mu.Lock()
	v.subscribed = append(v.subscribed, kind.Kind)
	err, asking := v.refuse[kind], v.asking
	v.mu.Unlock()
	if asking != nil {
		asking(ctx, kind)
	}
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	if v.handlers == nil {
		v.handlers = map[schema.GroupVersionKind][]func(deploy.Event){}
	}
	v.handlers[kind] = append(v.handlers[kind], handle)
	v.mu.Unlock()
	inner, err := v.View.Subscribe(ctx, kind, handle)
	return &subscription{inner, v, kind}, err
}

// leave has an object leave the view, or come back into it: whoever subscribed is told so.
func (v *view) leave(obj *unstructured.Unstructured) {
	v.emit(deploy.Event{Type: deploy.Left, Old: obj, New: obj})
}

func (v *view) emit(event deploy.Event) {
	v.mu.Lock()
	handlers := slices.Clone(v.handlers[event.New.GroupVersionKind()])
	v.mu.Unlock()
	for _, handle := range handlers {
		handle(event)
	}
}

// unable sets why a kind can't be subscribed to, and why it isn't synced.
func (v *view) unable(kind schema.GroupVersionKind, refuse, unsynced error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.refuse = map[schema.GroupVersionKind]error{kind: refuse}
	v.unsynced = map[schema.GroupVersionKind]error{kind: unsynced}
}

// subscriptions are the kinds that were asked for, in their order.
func (v *view) subscriptions() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.subscribed)
}

type subscription struct {
	deploy.Subscription
	view *view
	kind schema.GroupVersionKind
}

func (s *subscription) Synced(ctx context.Context) error {
	s.view.mu.Lock()
	err := s.view.unsynced[s.kind]
	s.view.mu.Unlock()
	if err != nil {
		return err
	}
	return s.Subscription.Synced(ctx)
}
