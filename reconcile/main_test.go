package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	widgets     = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Widget"}
	configMaps  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}

	widgetRef = deploy.Ref{Kind: widgets, Namespace: "shop", Name: "w"}
)

const (
	widgetUID   = types.UID("uid-of-w")
	writeStatus = "patch Widget shop/w/status"
	patchWidget = "patch Widget shop/w"
)

// controller is a Controller of widgets made of a function.
type controller struct {
	setup func(ctx context.Context, s *Session) error
}

func (c *controller) Kind() schema.GroupVersionKind { return widgets }

func (c *controller) Setup(ctx context.Context, s *Session) error {
	if c.setup == nil {
		return nil
	}
	return c.setup(ctx, s)
}

// adding is a controller whose Setup can't fail.
func adding(add func(s *Session)) *controller {
	return &controller{func(_ context.Context, s *Session) error { add(s); return nil }}
}

// finalizing is a controller with a Finalize.
type finalizing struct {
	controller
	finalize func(ctx context.Context, s *Session) error
}

func (f *finalizing) Finalize(ctx context.Context, s *Session) error {
	if f.finalize == nil {
		return nil
	}
	return f.finalize(ctx, s)
}

// world is one cluster in memory with one widget, and what is done to it.
type world struct {
	*recorder
	t     *testing.T
	clock *clock
	logs  *testlog.Text
}

// newWorld returns a world that holds the widget shop/w and objects.
func newWorld(t *testing.T, objects ...*unstructured.Unstructured) *world {
	t.Helper()
	return newWorldWith(t, widget(), objects...)
}

func newWorldWith(t *testing.T, resource *unstructured.Unstructured, objects ...*unstructured.Unstructured) *world {
	t.Helper()
	c := &clock{now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	memory, err := dryrun.New(dryrun.Schemaless(), dryrun.Objects(append(objects, resource)...), dryrun.Clock(c.Now))
	require.NoError(t, err)
	return &world{recorder: &recorder{memory: memory, shown: newShown(t)}, t: t, clock: c, logs: &testlog.Text{}}
}

func widget() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.dev/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "w", "namespace": "shop", "uid": string(widgetUID), "generation": int64(1)},
		"spec":     map[string]any{"size": int64(3), "colours": map[string]any{"door": map[string]any{"red": "yes"}}},
	}}
}

func (w *world) reconciler(c Controller, options ...Option) *Reconciler {
	w.t.Helper()
	// On a machine that has much else to do any reconcile would be slow enough to say that it began.
	options = append([]Option{Logger(slog.New(slog.NewTextHandler(w.logs, nil))), Clock(w.clock.Now), StartAfter(0)}, options...)
	r, err := New(c, must(deploy.NewManager(w)), options...)
	require.NoError(w.t, err)
	return r
}

var widgetRequest = request.Request{Key: deploy.Ref{Kind: widgets, Namespace: "shop", Name: "w"}}

// once reconciles the widget and returns the calls that it took.
func (w *world) once(r *Reconciler) (calls []string, result request.Result, err error) {
	w.t.Helper()
	w.forget()
	w.clock.advance(time.Second)
	result, err = r.Reconcile(w.t.Context(), widgetRequest)
	return w.made(), result, err
}

// calm reconciles the widget, which must not fail, and returns the calls that it took.
func (w *world) calm(r *Reconciler) []string {
	w.t.Helper()
	calls, _, err := w.once(r)
	require.NoError(w.t, err)
	return calls
}

func (w *world) get(ref deploy.Ref) *unstructured.Unstructured {
	w.t.Helper()
	obj, err := w.memory.View().Get(w.t.Context(), ref)
	require.NoError(w.t, err)
	return obj.DeepCopy()
}

func (w *world) widget() *unstructured.Unstructured {
	w.t.Helper()
	obj := w.get(widgetRef)
	require.NotNil(w.t, obj)
	return obj
}

// merge changes an object as somebody else would, past the recorder.
func (w *world) merge(ref deploy.Ref, body string) {
	w.t.Helper()
	w.patch(ref, body, "")
}

func (w *world) mergeStatus(ref deploy.Ref, body string) {
	w.t.Helper()
	w.patch(ref, body, "status")
}

func (w *world) patch(ref deploy.Ref, body, subresource string) {
	w.t.Helper()
	_, err := w.memory.Port().Patch(w.t.Context(), ref, deploy.PatchRequest{
		Type: types.MergePatchType, Body: []byte(body), Subresource: subresource, FieldManager: "somebody",
	})
	require.NoError(w.t, err)
}

// delete asks for the deletion of an object as somebody else would.
func (w *world) delete(ref deploy.Ref) {
	w.t.Helper()
	require.NoError(w.t, w.memory.Port().Delete(w.t.Context(), ref, deploy.DeleteOptions{}))
}

// verdict is the reasons of Ready and Updating, as "Stable/Stable".
func (w *world) verdict() string {
	w.t.Helper()
	return w.condition(status.ConditionReady).Reason + "/" + w.condition(status.ConditionUpdating).Reason
}

func (w *world) condition(kind string) metav1.Condition {
	w.t.Helper()
	condition, _ := status.Conditions(w.widget()).Get(kind)
	return condition
}

// message is that of the Updating condition, which every error and every wait writes.
func (w *world) message() string {
	w.t.Helper()
	return w.condition(status.ConditionUpdating).Message
}

func configMapRef(name string) deploy.Ref {
	return deploy.Ref{Kind: configMaps, Namespace: "shop", Name: name}
}

func deploymentRef(name string) deploy.Ref {
	return deploy.Ref{Kind: deployments, Namespace: "shop", Name: name}
}

// configMap is ready as soon as it is there.
func configMap(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name},
		"data": map[string]any{"key": "value"},
	}}
}

// deployment is ready once the test says so.
func deployment(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"replicas": int64(1)},
	}}
}

func (w *world) makeReady(name string) {
	w.t.Helper()
	w.mergeStatus(deploymentRef(name), `{"status":{"observedGeneration":1,"replicas":1,"updatedReplicas":1,"readyReplicas":1,
		"availableReplicas":1,"conditions":[{"type":"Available","status":"True"},
		{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}]}}`)
}

func (w *world) makeFailed(name string) {
	w.t.Helper()
	w.mergeStatus(deploymentRef(name), `{"status":{"observedGeneration":1,"conditions":[{"type":"Progressing","status":"False",
		"reason":"ProgressDeadlineExceeded","message":"no progress"}]}}`)
}

// owned adds metadata to an object that says it is in the namespace of the widget and owned
// by somebody with uid.
func owned(obj *unstructured.Unstructured, uid types.UID) *unstructured.Unstructured {
	obj.SetNamespace("shop")
	obj.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "example.dev/v1", Kind: "Widget", Name: "other", UID: uid}})
	return obj
}

// forbidden is the answer to a request that RBAC doesn't allow.
func forbidden(verb, resources string) error {
	return &deploy.ForbiddenError{Verb: verb, Resource: schema.GroupResource{Resource: resources}, Namespace: "shop", Err: errors.New("no")}
}

// clock is a time that the test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// must returns a value that can't fail to be made.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
