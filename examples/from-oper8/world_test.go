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
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

const patience = 60 * time.Second

// asOperator makes the test binary the operator, so that a test starts and ends it as a process of its own.
const asOperator = "BAKERY_TEST_AS_OPERATOR"

func TestMain(m *testing.M) {
	if os.Getenv(asOperator) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

var (
	bakeries    = Bakery{}.Kind()
	patches     = schema.GroupVersionKind{Group: "oper8.org", Version: "v1", Kind: "TemporaryPatch"}
	configMaps  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	services    = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
)

// world is a namespace of a real control plane, the user of the operator, and somebody else: the administrator.
type world struct {
	*envtest.Env
	t        *testing.T
	operator *envtest.User
	api      *cluster.Cluster
	// started is when the operator was.
	started envtest.Mark
}

func newWorld(t *testing.T) *world {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("config/crd"))
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	return &world{Env: env, t: t, operator: env.User(t, "operator", envtest.RolesIn("config/rbac")), api: api}
}

// start runs the operator until the test ends, in the environment that it had as oper8's, and returns what it says.
func (w *world) start() (log *buffer) {
	w.t.Helper()
	log, w.started = &buffer{}, w.Mark(w.t)
	command := exec.Command(os.Args[0], "run")
	command.Env = append(os.Environ(), asOperator+"=1", "KUBECONFIG="+w.Kubeconfig(w.t, w.operator), "WATCH_NAMESPACE="+w.Namespace, "LOG_JSON=true")
	command.Stderr = log
	require.NoError(w.t, command.Start())
	w.t.Cleanup(func() {
		_ = command.Process.Kill() // it is gone already if it has ended by itself
		_ = command.Wait()
		if w.t.Failed() {
			w.t.Logf("the operator said:\n%s", log.String())
		}
	})
	return log
}

// run runs a command of the operator, and returns what it prints.
func (w *world) run(args ...string) string {
	w.t.Helper()
	command := exec.CommandContext(w.t.Context(), os.Args[0], args...)
	command.Env = append(os.Environ(), asOperator+"=1", "KUBECONFIG="+w.Kubeconfig(w.t, w.operator))
	output, err := command.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) { // that there are differences isn't 0 either
		require.NoError(w.t, err)
	}
	return string(output)
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

// object is that of a text, in the world's namespace.
func (w *world) object(text string) *unstructured.Unstructured {
	w.t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(w.t, yaml.Unmarshal([]byte(text), &obj.Object))
	obj.SetNamespace(w.Namespace)
	return obj
}

func (w *world) create(text string) *unstructured.Unstructured {
	w.t.Helper()
	made, err := w.api.Port().Create(w.t.Context(), w.object(text), deploy.CreateOptions{FieldManager: "kubectl"})
	require.NoError(w.t, err)
	return made
}

// applied has an object as oper8 applied it.
func (w *world) applied(obj *unstructured.Unstructured) *unstructured.Unstructured {
	w.t.Helper()
	made, err := w.api.Port().Apply(w.t.Context(), obj, deploy.ApplyOptions{FieldManager: "oper8", Force: true})
	require.NoError(w.t, err)
	return made.Object
}

// merge is an edit of somebody.
func (w *world) merge(ref deploy.Ref, body string, subresource ...string) {
	w.t.Helper()
	patch := deploy.Patch{Type: types.MergePatchType, Body: []byte(body), FieldManager: "somebody"}
	if len(subresource) > 0 {
		patch.Subresource = subresource[0]
	}
	_, err := w.api.Port().Patch(w.t.Context(), ref, patch)
	require.NoError(w.t, err)
}

func (w *world) eventually(what string, condition func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// writes are those of the operator since it was started, without the events that it told.
func (w *world) writes() audit.Calls {
	w.t.Helper()
	return w.CallsSince(w.t, w.started, w.operator).Writes().Filter(func(c audit.Call) bool { return c.Resource != "events" })
}

// settled waits until the bakery is Ready as it is now, and the operator hasn't written for a while.
func (w *world) settled(name string) {
	w.t.Helper()
	w.eventually("the bakery is ready", func() bool {
		bakery := w.get(bakeries, name)
		ready, _ := status.Conditions(bakery).Get(status.ConditionReady)
		updating, _ := status.Conditions(bakery).Get(status.ConditionUpdating)
		return ready.Status == "True" && updating.Status == "False" && ready.ObservedGeneration == bakery.GetGeneration()
	})
	for last, now := -1, 0; last != now; now = len(w.writes()) {
		last = now
		time.Sleep(500 * time.Millisecond)
	}
}
