package operator_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

const (
	definitions = "testdata/crds"
	patience    = 30 * time.Second
)

var (
	gadgets    = schema.GroupVersionKind{Group: "operator.operkit.dev", Version: "v1", Kind: "Gadget"}
	gears      = schema.GroupVersionKind{Group: "operator.operkit.dev", Version: "v1", Kind: "Gear"}
	bells      = schema.GroupVersionKind{Group: "operator.operkit.dev", Version: "v1", Kind: "Bell"}
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

// patchDefinition writes the definition of temporary patches into a file.
func patchDefinition(t *testing.T) string {
	t.Helper()
	crd, err := temporarypatch.CRD()
	require.NoError(t, err)
	text, err := yaml.Marshal(crd.Object)
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "crd.yaml")
	require.NoError(t, os.WriteFile(name, text, 0o600))
	return name
}

// settings controls resources of any kind: each is one ConfigMap of its own name.
type settings struct{ kind schema.GroupVersionKind }

func (c settings) Kind() schema.GroupVersionKind { return c.kind }

func (settings) Setup(_ context.Context, s *reconcile.Session) error {
	s.Add("store").Add("settings", map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": s.Name()}, "data": map[string]any{"mode": "old"},
	})
	return nil
}

// world is a namespace of a control plane with somebody in it who isn't an operator.
type world struct {
	*envtest.Env
	t   *testing.T
	api *cluster.Cluster
}

func newWorld(t *testing.T, options ...envtest.Option) *world {
	t.Helper()
	env := envtest.Start(t, options...)
	ctx, stop := context.WithCancel(t.Context())
	api, err := cluster.New(ctx, env.Admin)
	require.NoError(t, err)
	t.Cleanup(func() { stop(); api.Wait() })
	return &world{env, t, api}
}

// own and creating are the rights to control these kinds.
var (
	own = rbacv1.PolicyRule{Verbs: []string{"get", "list", "watch", "patch", "update", "delete"}, APIGroups: []string{"operator.operkit.dev", ""},
		Resources: []string{"gadgets", "gadgets/status", "gadgets/finalizers", "gears", "gears/status", "gears/finalizers", "bells", "bells/status", "configmaps"}}
	creating = rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{""}, Resources: []string{"configmaps"}}
)

// patchRights are the rights to serve temporary patches that the README names.
func patchRights(t *testing.T) []rbacv1.PolicyRule { return rightsIn(t, "## Temporary patches\n") }

// leading are those to lead by a Lease.
func leading(t *testing.T) []rbacv1.PolicyRule { return rightsIn(t, "## Several replicas\n") }

// rightsIn are the rules in a section of the README.
func rightsIn(t *testing.T, section string) []rbacv1.PolicyRule {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(readme), section)
	require.True(t, found, "the README has the section")
	_, text, found = strings.Cut(text, "```yaml\n")
	require.True(t, found, "the section has the rules")
	text, _, _ = strings.Cut(text, "```")
	var rules []rbacv1.PolicyRule
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &rules))
	require.NotEmpty(t, rules)
	return rules
}

// running is an operator that runs in this process, as a user of its own.
type running struct {
	user *envtest.User
	log  *buffer
	stop func()
	// code gets the exit code when the operator has ended.
	code chan int
}

// start runs an operator of one kind until the test ends or stops it.
func (w *world) start(kind schema.GroupVersionKind, rights []rbacv1.PolicyRule, options ...operator.Option) *running {
	w.t.Helper()
	name := strings.ToLower(kind.Kind) + "-operator"
	user := w.User(w.t, name, envtest.InNamespace(slices.Concat([]rbacv1.PolicyRule{own, creating}, rightsIn(w.t, "## Events\n"), rights)...))
	op := operator.New(name, options...)
	op.Control(settings{kind}, reconcile.NameObjects())
	return w.run(name, op, user, "--namespace", w.Namespace)
}

// run runs an operator as a user until the test ends or stops it.
func (w *world) run(name string, op *operator.Operator, user *envtest.User, flags ...string) *running {
	w.t.Helper()
	r := w.runs(name, op, user, flags...)
	stop := r.stop
	r.stop = sync.OnceFunc(func() { stop(); assert.Zero(w.t, <-r.code) })
	w.t.Cleanup(r.stop)
	return r
}

// runs runs an operator that may end with any code.
func (w *world) runs(name string, op *operator.Operator, user *envtest.User, flags ...string) *running {
	w.t.Helper()
	r := &running{user: user, log: &buffer{}, code: make(chan int, 1)}
	ctx, cancel := context.WithCancel(w.t.Context())
	var ended sync.WaitGroup
	args := append([]string{"run", "--kubeconfig", w.Kubeconfig(w.t, r.user)}, flags...)
	ended.Go(func() { r.code <- op.Execute(ctx, args, r.log, r.log) })
	r.stop = func() { cancel(); ended.Wait() }
	w.t.Cleanup(func() {
		r.stop()
		if w.t.Failed() {
			w.t.Logf("%s said:\n%s", name, r.log.String())
		}
	})
	return r
}

func (w *world) create(text string) {
	w.t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(w.t, yaml.Unmarshal([]byte(text), &obj.Object))
	if obj.GetNamespace() == "" {
		obj.SetNamespace(w.Namespace)
	}
	_, err := w.api.Port().Create(w.t.Context(), obj, deploy.CreateOptions{FieldManager: "somebody"})
	require.NoError(w.t, err)
}

// patch makes a temporary patch that has the ConfigMap of a resource say another mode.
func (w *world) patch(name string, target schema.GroupVersionKind, mode string) {
	w.t.Helper()
	w.create("{apiVersion: operkit.dev/v1, kind: TemporaryPatch, metadata: {name: " + name + "}, spec: {apiVersion: " + target.GroupVersion().String() +
		", kind: " + target.Kind + ", name: one, patchType: strategic, patch: {store: {settings: {data: {mode: " + mode + "}}}}}}")
}

func (w *world) resource(kind schema.GroupVersionKind, name string) {
	w.t.Helper()
	w.create("{apiVersion: " + kind.GroupVersion().String() + ", kind: " + kind.Kind + ", metadata: {name: " + name + "}}")
}

func (w *world) ref(kind schema.GroupVersionKind, name string) deploy.Ref {
	return deploy.Ref{Kind: kind, Namespace: w.Namespace, Name: name}
}

// get reads from the API server, nil when there is none.
func (w *world) get(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	w.t.Helper()
	obj, err := w.api.Port().Get(w.t.Context(), w.ref(kind, name))
	require.NoError(w.t, err)
	return obj
}

func (w *world) delete(kind schema.GroupVersionKind, name string) {
	w.t.Helper()
	require.NoError(w.t, w.api.Port().Delete(w.t.Context(), w.ref(kind, name), deploy.DeleteOptions{}))
}

func (w *world) mode(name string) string {
	w.t.Helper()
	obj := w.get(configMaps, name)
	if obj == nil {
		return ""
	}
	mode, _, err := unstructured.NestedString(obj.Object, "data", "mode")
	require.NoError(w.t, err)
	return mode
}

// applied is the condition of a patch that tells what came of it.
func (w *world) applied(name string) metav1.Condition {
	w.t.Helper()
	condition, _ := status.Conditions(w.get(temporarypatch.DefaultKind, name)).Get(temporarypatch.ConditionApplied)
	return condition
}

func (w *world) eventually(what string, condition func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(20 * time.Millisecond) {
		require.True(w.t, time.Now().Before(deadline), "not within %s: %s", patience, what)
	}
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// lines are those that contain a text.
func (b *buffer) lines(text string) []string {
	var found []string
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}
