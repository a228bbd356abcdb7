package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"

	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/cluster"
	v1 "github.com/operkit/operkit/examples/memcached/api/v1"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMain(m *testing.M) {
	program.Main(main)
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
	*bystander.Bystander
	t *testing.T
}

func newWorld(t *testing.T) *world {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("../../../examples/memcached/config/crd", "../../../examples/hello/config/crd.yaml"))
	api, err := cluster.New(t.Context(), env.Config)
	require.NoError(t, err)
	return &world{env, bystander.New(t, api, env.Namespace, "somebody"), t}
}

// process is the program, running.
type process struct {
	*program.Process
	// theirs and ours are where its metrics are.
	theirs, ours string
}

// start runs a release of the program until the test ends or stops it.
func (w *world) start(args ...string) *process {
	w.t.Helper()
	theirs, ours, command := free(w.t), free(w.t), program.Command(args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+w.Kubeconfig(w.t, w.Self), "METRICS_ADDRESS="+theirs, "OPERKIT_METRICS_ADDRESS="+ours)
	return &process{program.Start(w.t, command), theirs, ours}
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

// create makes a resource with a spec.
func (w *world) create(kind schema.GroupVersionKind, name, spec string) {
	w.t.Helper()
	w.CreateYAML(fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: %s}, spec: %s}", kind.GroupVersion(), kind.Kind, name, spec))
}

// size is how many Pods a Deployment has, as it says; -1 for none.
func (w *world) size(name string) int64 {
	w.t.Helper()
	deployment := w.Get(deployments, name)
	if deployment == nil {
		return -1
	}
	replicas, _, err := unstructured.NestedInt64(deployment.Object, "spec", "replicas")
	require.NoError(w.t, err)
	return replicas
}
