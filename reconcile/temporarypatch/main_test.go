package temporarypatch_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/status"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	annotation  = "operkit.dev/temporary-patches"
	finalizer   = "temporarypatch.operkit.dev/finalizer"
	patchWidget = "patch Widget shop/w"
)

var (
	widgets     = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Widget"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	configMaps  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

	widgetRef = deploy.Ref{Kind: widgets, Namespace: "shop", Name: "w"}
	webRef    = deploy.Ref{Kind: deployments, Namespace: "shop", Name: "web"}
)

// widgetController renders two components: web, of a Deployment and a ConfigMap, and db, of a ConfigMap.
type widgetController struct {
	more func(s *reconcile.Session)
}

func (*widgetController) Kind() schema.GroupVersionKind { return widgets }

func (w *widgetController) Setup(_ context.Context, s *reconcile.Session) error {
	web := s.Add("web")
	web.Add("deployment", object(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1,
		selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [
		{name: web, image: "web:1"}, {name: log, image: "log:1"}]}}}}`))
	web.Add("", object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {mode: quiet}}`))
	s.Add("db").Add("settings", object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: db}, data: {size: small}}`))
	if w.more != nil {
		w.more(s)
	}
	return nil
}

// world is a cluster in memory with a widget, and both reconcilers over it.
type world struct {
	t       *testing.T
	cluster *dryrun.Cluster
	port    *interposed
	view    *shaded
	calls   *dryrun.Recording
	manager *deploy.Manager
	clock   *clock
	logs    *testlog.Text
	control *widgetController
	patches *temporarypatch.Controller
	own     *temporarypatch.Reconciler
	target  *reconcile.Reconciler
}

// newWorld has the widget shop/w; objects are YAML.
func newWorld(t *testing.T, objects ...string) *world {
	t.Helper()
	return newWorldOf(t, []string{"Widget"}, objects)
}

func newWorldOf(t *testing.T, kinds, objects []string, options ...temporarypatch.Option) *world {
	t.Helper()
	w := newCluster(t, append(objects, `{apiVersion: example.dev/v1, kind: Widget, metadata: {name: w, namespace: shop}}`), options...)
	w.control = &widgetController{}
	w.restart(kinds, options...)
	return w
}

func newCluster(t *testing.T, objects []string, options ...temporarypatch.Option) *world {
	t.Helper()
	w := &world{t: t, clock: &clock{now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}, logs: &testlog.Text{}}
	crd, err := temporarypatch.CRD(options...)
	require.NoError(t, err)
	all := []*unstructured.Unstructured{crd}
	for _, text := range objects {
		all = append(all, object(text))
	}
	w.cluster, err = dryrun.New(dryrun.AnyKind(), dryrun.Clock(w.clock.Now), dryrun.Objects(all...))
	require.NoError(t, err)
	w.calls = w.cluster.Record()
	w.port, w.view = &interposed{Port: w.cluster.Port()}, &shaded{View: w.cluster.View()}
	w.manager = must(deploy.NewManager(w))
	return w
}

// Port and View make the world a deploy.Cluster.
func (w *world) Port() deploy.Port { return w.port }
func (w *world) View() deploy.View { return w.view }

// restart makes the controllers anew, as a new process has them.
func (w *world) restart(kinds []string, options ...temporarypatch.Option) {
	w.t.Helper()
	logger := slog.New(slog.NewTextHandler(w.logs, nil))
	var err error
	w.patches, err = temporarypatch.New(w.manager, kinds, append([]temporarypatch.Option{
		temporarypatch.Clock(w.clock.Now),
	}, options...)...)
	require.NoError(w.t, err)
	common := []reconcile.Option{reconcile.Clock(w.clock.Now), reconcile.Logger(logger)}
	w.own, err = w.patches.Reconciler(common...)
	require.NoError(w.t, err)
	w.target, err = reconcile.New(w.control, w.manager, append(common, reconcile.WithPatches(w.patches))...)
	require.NoError(w.t, err)
}

// create makes a patch of the widget; spec is what it has beside its target.
func (w *world) create(name, spec string) deploy.Ref {
	w.t.Helper()
	return w.createFor(name, "apiVersion: example.dev/v1, kind: Widget, name: w, "+spec)
}

func (w *world) createFor(name, spec string) deploy.Ref {
	w.t.Helper()
	version, kind := w.patches.Kind().ToAPIVersionAndKind()
	return w.put(object("{apiVersion: " + version + ", kind: " + kind + ", metadata: {name: " + name + ", namespace: shop}, spec: {" + spec + "}}"))
}

func (w *world) put(obj *unstructured.Unstructured) deploy.Ref {
	w.t.Helper()
	_, err := w.cluster.Port().Create(w.t.Context(), obj, deploy.CreateOptions{FieldManager: "support"})
	require.NoError(w.t, err)
	return deploy.RefOf(obj)
}

// reconciler is one of patches or of their targets.
type reconciler interface {
	watch.Reconciler
	Kind() schema.GroupVersionKind
}

// run reconciles one resource and returns the writes that it took.
func (w *world) run(r reconciler, name string) (writes []string, result request.Result, err error) {
	w.t.Helper()
	w.calls.Take()
	w.clock.advance(time.Second)
	result, err = r.Reconcile(w.t.Context(), request.Request{Key: deploy.Ref{Kind: r.Kind(), Namespace: "shop", Name: name}})
	for _, call := range w.calls.Take() {
		writes = append(writes, call.String())
	}
	return writes, result, err
}

// patched reconciles the named patch, which must not fail.
func (w *world) patched(name string) []string {
	w.t.Helper()
	writes, _, err := w.run(w.own, name)
	require.NoError(w.t, err)
	return writes
}

// rendered reconciles the widget, which must not fail.
func (w *world) rendered() []string {
	w.t.Helper()
	writes, _, err := w.run(w.target, "w")
	require.NoError(w.t, err)
	return writes
}

func (w *world) get(ref deploy.Ref) *unstructured.Unstructured {
	w.t.Helper()
	obj, err := w.cluster.View().Get(w.t.Context(), ref)
	require.NoError(w.t, err)
	return obj
}

func (w *world) merge(ref deploy.Ref, body string) {
	w.t.Helper()
	w.mergeInto(ref, body, "")
}

func (w *world) mergeInto(ref deploy.Ref, body, subresource string) {
	w.t.Helper()
	_, err := w.cluster.Port().Patch(w.t.Context(), ref, deploy.PatchRequest{
		Type: types.MergePatchType, Body: []byte(body), FieldManager: "support", Subresource: subresource,
	})
	require.NoError(w.t, err)
}

func (w *world) delete(ref deploy.Ref) {
	w.t.Helper()
	require.NoError(w.t, w.cluster.Port().Delete(w.t.Context(), ref, deploy.DeleteOptions{}))
}

// annotate sets the annotation of the widget.
func (w *world) annotate(value string) {
	w.t.Helper()
	w.merge(widgetRef, string(marshal(w.t, map[string]any{"metadata": map[string]any{"annotations": map[string]any{annotation: value}}})))
}

// entries is the annotation of the widget, nil without one.
func (w *world) entries() map[string]map[string]any {
	w.t.Helper()
	text, ok := w.get(widgetRef).GetAnnotations()[annotation]
	if !ok {
		return nil
	}
	var found map[string]map[string]any
	require.NoError(w.t, json.Unmarshal([]byte(text), &found))
	return found
}

func (w *world) condition(ref deploy.Ref, kind string) metav1.Condition {
	w.t.Helper()
	condition, _ := status.Conditions(w.get(ref)).Get(kind)
	return condition
}

// verdict is the reasons of Ready and Updating, as "Stable/Stable".
func (w *world) verdict(ref deploy.Ref) string {
	w.t.Helper()
	return w.condition(ref, "Ready").Reason + "/" + w.condition(ref, "Updating").Reason
}

func (w *world) names(ref deploy.Ref, field string) []string {
	w.t.Helper()
	names, _, err := unstructured.NestedStringSlice(w.get(ref).Object, "status", field)
	require.NoError(w.t, err)
	return names
}

// data is a value of a ConfigMap.
func (w *world) data(name, key string) string {
	w.t.Helper()
	obj := w.get(deploy.Ref{Kind: configMaps, Namespace: "shop", Name: name})
	if obj == nil {
		return "(absent)"
	}
	value, _, err := unstructured.NestedString(obj.Object, "data", key)
	require.NoError(w.t, err)
	return value
}

func (w *world) replicas() int64 {
	w.t.Helper()
	replicas, _, err := unstructured.NestedInt64(w.get(webRef).Object, "spec", "replicas")
	require.NoError(w.t, err)
	return replicas
}

// images are those of the Deployment's containers, as "web=web:1".
func (w *world) images() (images []string) {
	w.t.Helper()
	containers, _, err := unstructured.NestedSlice(w.get(webRef).Object, "spec", "template", "spec", "containers")
	require.NoError(w.t, err)
	for _, c := range containers {
		container, _ := c.(map[string]any)
		name, _ := container["name"].(string)
		image, _ := container["image"].(string)
		images = append(images, name+"="+image)
	}
	return images
}

// object reads an object from YAML.
func object(text string) *unstructured.Unstructured {
	var content map[string]any
	if err := yaml.Unmarshal([]byte(text), &content); err != nil {
		panic(err)
	}
	document, err := json.Marshal(content)
	if err != nil {
		panic(err)
	}
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON(document); err != nil {
		panic(err)
	}
	return obj
}

func marshal(t testing.TB, value any) []byte {
	t.Helper()
	document, err := json.Marshal(value)
	require.NoError(t, err)
	return document
}

// mergeReady reconciles the widget until it is as it should be.
func (w *world) mergeReady() {
	w.t.Helper()
	w.rendered()
	w.mergeInto(webRef, `{"status":{"observedGeneration":1,"replicas":1,"updatedReplicas":1,"readyReplicas":1,
		"availableReplicas":1,"conditions":[{"type":"Available","status":"True"},
		{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}]}}`, "status")
	w.rendered()
}

// revising is a component with a last word.
type revising struct{}

func (revising) Build(_ context.Context, _ *reconcile.Session, c *reconcile.Component) error {
	c.Add("o", object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: revised}, data: {k: built}}`))
	return nil
}

func (revising) Revise(_ context.Context, _ *reconcile.Session, _ string, content *unstructured.Unstructured) error {
	value, _, err := unstructured.NestedString(content.Object, "data", "k")
	if err != nil {
		return err
	}
	return unstructured.SetNestedField(content.Object, value+", and revised", "data", "k")
}

var failingStatus = dryrun.Fault{Verb: dryrun.VerbPatch, Kind: temporarypatch.DefaultKind, Subresource: "status", Code: 403}

// must returns a value that can't fail to be made.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
