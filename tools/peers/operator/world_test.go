package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	v1 "github.com/operkit/operkit/examples/memcached/api/v1"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const patience = 60 * time.Second

// asProgram makes the test binary the program, so that a test starts and ends it as a process of its own.
const asProgram = "OPERATOR_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

var (
	memcacheds  = v1.MemcachedKind
	hellos      = Hello{}.Kind()
	configMaps  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	leases      = schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
)

// world is a namespace of a real control plane, in which the test's own user may do everything, and so may the program.
type world struct {
	*envtest.Env
	t   *testing.T
	api *cluster.Cluster
}

func newWorld(t *testing.T) *world {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("../../../examples/memcached/config/crd", "../../../examples/hello/config/crd.yaml"))
	api, err := cluster.New(t.Context(), env.Config)
	require.NoError(t, err)
	return &world{env, t, api}
}

// process is the program, running.
type process struct {
	command *exec.Cmd
	log     buffer
	done    chan struct{}
	err     error
	// theirs and ours are where its metrics are.
	theirs, ours string
}

// start runs a release of the program until the test ends or stops it.
func (w *world) start(args ...string) *process {
	w.t.Helper()
	p := &process{command: exec.Command(os.Args[0], args...), done: make(chan struct{}), theirs: free(w.t), ours: free(w.t)}
	p.command.Env = append(os.Environ(), asProgram+"=1", "KUBECONFIG="+w.Kubeconfig(w.t, w.Self), "METRICS_ADDRESS="+p.theirs, "OPERKIT_METRICS_ADDRESS="+p.ours)
	p.command.Stderr = &p.log
	require.NoError(w.t, p.command.Start())
	go func() {
		p.err = p.command.Wait()
		close(p.done)
	}()
	w.t.Cleanup(func() {
		_ = p.command.Process.Kill() // it is gone already if it has ended by itself
		<-p.done
		if w.t.Failed() {
			w.t.Logf("%s said:\n%s", strings.Join(args, " "), p.log.String())
		}
	})
	return p
}

// stop ends the program in good order.
func (w *world) stop(p *process) {
	w.t.Helper()
	require.NoError(w.t, p.command.Process.Signal(syscall.SIGTERM))
	select {
	case <-p.done:
		require.NoError(w.t, p.err)
	case <-time.After(patience):
		w.t.Fatal("the program doesn't stop")
	}
}

// free is an address that nobody listens at.
func free(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

// page is what is served at an address under /metrics, empty if nothing is.
func (w *world) page(address string) string {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, "http://"+address+"/metrics", http.NoBody)
	require.NoError(w.t, err)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(w.t, err)
	return string(content)
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

// create makes a resource with a spec.
func (w *world) create(kind schema.GroupVersionKind, name, spec string) {
	w.t.Helper()
	content := map[string]any{}
	require.NoError(w.t, json.Unmarshal([]byte(`{"spec":`+spec+`}`), &content))
	obj := &unstructured.Unstructured{Object: content}
	obj.SetGroupVersionKind(kind)
	obj.SetNamespace(w.Namespace)
	obj.SetName(name)
	_, err := w.api.Port().Create(w.t.Context(), obj, deploy.CreateOptions{FieldManager: "somebody"})
	require.NoError(w.t, err)
}

func (w *world) merge(kind schema.GroupVersionKind, name, body string) {
	w.t.Helper()
	_, err := w.api.Port().Patch(w.t.Context(), w.ref(kind, name), deploy.Patch{Type: types.MergePatchType, Body: []byte(body), FieldManager: "somebody"})
	require.NoError(w.t, err)
}

// size is how many Pods a Deployment has, as it says; -1 for none.
func (w *world) size(name string) int64 {
	w.t.Helper()
	deployment := w.get(deployments, name)
	if deployment == nil {
		return -1
	}
	replicas, _, err := unstructured.NestedInt64(deployment.Object, "spec", "replicas")
	require.NoError(w.t, err)
	return replicas
}

func (w *world) eventually(what string, condition func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("not within %s: %s", patience, what)
		}
	}
}
