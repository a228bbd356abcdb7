package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

const patience = 60 * time.Second

// asOperator makes the test binary the operator, so that a test starts and kills it as a process of its own.
const asOperator = "PATCHED_TEST_AS_OPERATOR"

func TestMain(m *testing.M) {
	if os.Getenv(asOperator) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

var (
	caches      = Cache{}.Kind()
	patches     = temporarypatch.DefaultKind
	services    = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
)

// world is a namespace of a real control plane, the user of an operator, and somebody else: the support.
type world struct {
	*envtest.Env
	t        *testing.T
	operator *envtest.User
	config   string
	api      *cluster.Cluster
}

// newWorld has what config/ has, and the operator running with the rights that are there.
func newWorld(t *testing.T) *world {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("config/crd"))
	w := &world{Env: env, t: t, operator: env.User(t, "operator", envtest.RolesIn("config/rbac"))}
	w.config = env.Kubeconfig(t, w.operator)
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	w.api = api
	return w
}

// start runs the operator until the test ends or calls kill.
func (w *world) start() (kill func()) {
	w.t.Helper()
	log := &buffer{}
	command := exec.Command(os.Args[0], "run", "--namespace", w.Namespace, "--kubeconfig", w.config)
	command.Env = append(os.Environ(), asOperator+"=1")
	command.Stderr = log
	require.NoError(w.t, command.Start())
	kill = sync.OnceFunc(func() {
		_ = command.Process.Kill() // it is gone already if it has ended by itself
		_ = command.Wait()
	})
	w.t.Cleanup(func() {
		kill()
		if w.t.Failed() {
			w.t.Logf("the operator said:\n%s", log.String())
		}
	})
	return kill
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

func (w *world) ref(kind schema.GroupVersionKind, name string) deploy.Ref {
	return deploy.Ref{Kind: kind, Namespace: w.Namespace, Name: name}
}

// get reads an object from the API server, nil when there is none.
func (w *world) get(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	w.t.Helper()
	obj, err := w.api.View().Get(w.t.Context(), w.ref(kind, name))
	require.NoError(w.t, err)
	return obj
}

// create makes the object of a file of config/, or of a text, in the world's namespace.
func (w *world) create(fileOrText string) {
	w.t.Helper()
	text := []byte(fileOrText)
	if content, err := os.ReadFile(fileOrText); err == nil {
		text = content
	}
	obj := &unstructured.Unstructured{}
	require.NoError(w.t, yaml.Unmarshal(text, &obj.Object))
	obj.SetNamespace(w.Namespace)
	_, err := w.api.Port().Create(w.t.Context(), obj, deploy.CreateOptions{FieldManager: "support"})
	require.NoError(w.t, err)
}

func (w *world) edit(kind schema.GroupVersionKind, name, body string) {
	w.t.Helper()
	_, err := w.api.Port().Patch(w.t.Context(), w.ref(kind, name), deploy.Patch{Type: types.MergePatchType, Body: []byte(body), FieldManager: "support"})
	require.NoError(w.t, err)
}

func (w *world) delete(kind schema.GroupVersionKind, name string) {
	w.t.Helper()
	err := w.api.Port().Delete(w.t.Context(), w.ref(kind, name), deploy.DeleteOptions{})
	var absent *deploy.NotFoundError
	if !errors.As(err, &absent) {
		require.NoError(w.t, err)
	}
}

// memory is the limit that the Deployment sets now.
func (w *world) memory() string {
	w.t.Helper()
	obj := w.get(deployments, "menu")
	if obj == nil {
		return ""
	}
	containers, _, err := unstructured.NestedSlice(obj.Object, "spec", "template", "spec", "containers")
	require.NoError(w.t, err)
	require.Len(w.t, containers, 1)
	limit, _, err := unstructured.NestedString(containers[0].(map[string]any), "resources", "limits", "memory")
	require.NoError(w.t, err)
	return limit
}

func (w *world) eventually(what string, condition func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// condition is one of an object's, as far as it is about the object as it is now.
func (w *world) condition(kind schema.GroupVersionKind, name, conditionType string) metav1.Condition {
	w.t.Helper()
	obj := w.get(kind, name)
	require.NotNil(w.t, obj)
	condition, _ := status.Conditions(obj).Get(conditionType)
	if condition.ObservedGeneration != obj.GetGeneration() {
		return metav1.Condition{}
	}
	return condition
}

// settled waits until the cache is Ready, patches are Applied, and the operator has stopped writing.
func (w *world) settled(applied ...string) {
	w.t.Helper()
	w.eventually("the cache is Ready", func() bool {
		return w.condition(caches, "menu", status.ConditionReady).Status == "True" && w.condition(caches, "menu", status.ConditionUpdating).Status == "False"
	})
	for _, name := range applied {
		w.eventually(name+" is applied", func() bool { return w.condition(patches, name, temporarypatch.ConditionApplied).Status == "True" })
	}
	for last, now := -1, 0; last != now; now = len(w.writes(envtest.Mark{})) {
		last = now
		time.Sleep(500 * time.Millisecond)
	}
}

// writes are those of the operator since the mark.
func (w *world) writes(since envtest.Mark) audit.Calls {
	w.t.Helper()
	if since == (envtest.Mark{}) {
		return w.Calls(w.t, w.operator).Writes()
	}
	return w.CallsSince(w.t, since, w.operator).Writes()
}
