package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/vcs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

const patience = 60 * time.Second

// asOperator makes the test binary the operator, so that a test starts and ends it as a process of its own.
const asOperator = "KIOSK_TEST_AS_OPERATOR"

func TestMain(m *testing.M) {
	if os.Getenv(asOperator) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

var (
	kiosks      = Kiosk{}.Kind()
	configMaps  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	services    = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
)

// released makes the repository of the releases that are in this folder, and returns the settings that say where it is.
func released(t *testing.T, releases ...string) (settings []string) {
	t.Helper()
	dir := t.TempDir()
	source, destination, cache := filepath.Join(dir, "source"), filepath.Join(dir, "versions"), filepath.Join(dir, "cache")
	git := func(args ...string) {
		t.Helper()
		command := exec.Command("git", append([]string{"-C", source, "-c", "user.name=A", "-c", "user.email=a@example.com"}, args...)...)
		command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := command.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	require.NoError(t, os.Mkdir(source, 0o755))
	git("init", "--quiet")
	for _, release := range releases {
		require.NoError(t, os.RemoveAll(filepath.Join(source, "deploy")))
		require.NoError(t, os.CopyFS(filepath.Join(source, "deploy"), os.DirFS(filepath.Join(release, "deploy"))))
		git("add", "--all")
		git("commit", "--quiet", "--message", release)
		git("tag", release)
	}
	_, err := vcs.Setup(t.Context(), vcs.SetupOptions{Source: source, Destination: destination})
	require.NoError(t, err)
	t.Cleanup(func() { // what is checked out is read-only
		_, err := vcs.Prune(context.Background(), cache, func(string) bool { return false })
		require.NoError(t, err)
	})
	return []string{"--vcs.repository", destination, "--vcs.destination", filepath.Join(cache, "{version}")}
}

// operator is the command of the operator.
func operator(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.Command(os.Args[0], args...)
	command.Env = append(os.Environ(), asOperator+"=1")
	return command
}

// sample is the kiosk that is shipped, in some version.
func sample(t *testing.T, version string) *unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile("config/sample.yaml")
	require.NoError(t, err)
	kiosk := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal(content, &kiosk.Object))
	require.NoError(t, unstructured.SetNestedField(kiosk.Object, version, "spec", "version"))
	return kiosk
}

// world is a namespace of a real control plane in which the operator runs, with the rights that it is shipped with.
type world struct {
	*envtest.Env
	t   *testing.T
	api *cluster.Cluster
}

func newWorld(t *testing.T, settings ...string) *world {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("config/crd"))
	user := env.User(t, "operator", envtest.RolesIn("config/rbac"))
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	command, log := operator(t, append([]string{"run", "--namespace", env.Namespace, "--kubeconfig", env.Kubeconfig(t, user)}, settings...)...), &buffer{}
	command.Stderr = log
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill() // it is gone already if it has ended by itself
		_ = command.Wait()
		if t.Failed() {
			t.Logf("the operator said:\n%s", log.String())
		}
	})
	return &world{env, t, api}
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

// get reads an object from the API server, nil when there is none.
func (w *world) get(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	w.t.Helper()
	obj, err := w.api.View().Get(w.t.Context(), deploy.Ref{Kind: kind, Namespace: w.Namespace, Name: name})
	require.NoError(w.t, err)
	return obj
}

// wants has the kiosk want a version.
func (w *world) wants(version string) {
	w.t.Helper()
	patch := deploy.Patch{Type: types.MergePatchType, Body: []byte(`{"spec":{"version":"` + version + `"}}`), FieldManager: "somebody"}
	_, err := w.api.Port().Patch(w.t.Context(), deploy.Ref{Kind: kiosks, Namespace: w.Namespace, Name: "corner"}, patch)
	require.NoError(w.t, err)
}

// is waits until the kiosk is ready in a version.
func (w *world) is(version string) {
	w.t.Helper()
	w.eventually("the kiosk is "+version, func() bool {
		kiosk := w.get(kiosks, "corner")
		ready, _ := status.Conditions(kiosk).Get(status.ConditionReady)
		content, _ := kiosk.Object["status"].(map[string]any)
		return ready.Status == "True" && ready.ObservedGeneration == kiosk.GetGeneration() && status.ReconciledVersion(content) == version
	})
}

func (w *world) image() string {
	w.t.Helper()
	containers, _, err := unstructured.NestedSlice(w.get(deployments, "corner").Object, "spec", "template", "spec", "containers")
	require.NoError(w.t, err)
	require.Len(w.t, containers, 1)
	image, _ := containers[0].(map[string]any)["image"].(string)
	return image
}

func (w *world) eventually(what string, condition func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

func TestKioskIsUpgradedAndBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, released(t, "1.0.0", "1.1.0")...)
	kiosk := sample(t, "1.0.0")
	kiosk.SetNamespace(w.Namespace)
	_, err := w.api.Port().Create(t.Context(), kiosk, deploy.CreateOptions{FieldManager: "somebody"})
	require.NoError(t, err)
	w.is("1.0.0")
	assert.Equal(t, "registry.example.com/counter:1.0", w.image())
	assert.Nil(t, w.get(services, "corner"))
	available, _, err := unstructured.NestedSlice(w.get(kiosks, "corner").Object, "status", "versions", "available", "versions")
	require.NoError(t, err)
	assert.Equal(t, []any{map[string]any{"name": "1.0.0"}, map[string]any{"name": "1.1.0"}}, available)
	goods := w.get(configMaps, "corner-goods")

	w.wants("1.1.0")
	w.is("1.1.0")
	assert.Equal(t, "registry.example.com/counter:1.1", w.image())
	assert.NotNil(t, w.get(services, "corner"))
	assert.Equal(t, goods.GetResourceVersion(), w.get(configMaps, "corner-goods").GetResourceVersion(), "what both releases render isn't even written")

	w.wants("2.0.0")
	w.eventually("it says which versions there are", func() bool {
		ready, _ := status.Conditions(w.get(kiosks, "corner")).Get(status.ConditionReady)
		return ready.Reason == "ConfigError" && strings.Contains(ready.Message, `no version "2.0.0": choose one of 1.0.0, 1.1.0`)
	})
	assert.Equal(t, "registry.example.com/counter:1.1", w.image(), "it stays what it was")

	w.wants("1.0.0")
	w.is("1.0.0")
	assert.Equal(t, "registry.example.com/counter:1.0", w.image())
	w.eventually("what the old release doesn't render is pruned", func() bool { return w.get(services, "corner") == nil })
}

func TestRenderedByItsVersion(t *testing.T) {
	t.Parallel()
	settings := released(t, "1.0.0", "1.1.0")
	for _, row := range []struct {
		reason, version, want, not string
		code                       int
	}{
		{"the old release", "1.0.0", "counter:1.0", "kind: Service", 0},
		{"the new one", "1.1.0", "kind: Service", "counter:1.0", 0},
		{"a number may be written as one likes", "v1.1", "counter:1.1", "counter:1.0", 0},
		{"there is no such release", "2.0.0", `no version "2.0.0": choose one of 1.0.0, 1.1.0`, "kind", 1},
	} {
		content, err := yaml.Marshal(sample(t, row.version).Object)
		require.NoError(t, err, row.reason)
		command := operator(t, append([]string{"render", "-f", "-"}, settings...)...)
		command.Stdin = bytes.NewReader(content)
		out, _ := command.CombinedOutput()
		assert.Equal(t, row.code, command.ProcessState.ExitCode(), row.reason)
		assert.Contains(t, string(out), row.want, row.reason)
		assert.NotContains(t, string(out), row.not, row.reason)
	}
}
