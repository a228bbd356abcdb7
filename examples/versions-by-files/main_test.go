package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/operkit/operkit/vcs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

func TestMain(m *testing.M) {
	program.Main(main)
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

// world is a namespace of a real control plane in which the operator runs, with the rights that it is shipped with, and
// somebody else.
type world struct {
	*envtest.Env
	*bystander.Bystander
	t *testing.T
}

func newWorld(t *testing.T, settings ...string) *world {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("config/crd"))
	user := env.User(t, "operator", envtest.RolesIn("config/rbac"))
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	program.Start(t, program.Command(append([]string{"run", "--namespace", env.Namespace, "--kubeconfig", env.Kubeconfig(t, user)}, settings...)...))
	return &world{env, bystander.New(t, api, env.Namespace, "somebody"), t}
}

// wants has the kiosk want a version.
func (w *world) wants(version string) {
	w.t.Helper()
	w.Merge(kiosks, "corner", `{"spec":{"version":"`+version+`"}}`)
}

// is waits until the kiosk is ready in a version.
func (w *world) is(version string) {
	w.t.Helper()
	w.Eventually("the kiosk is "+version, func() bool {
		kiosk := w.Get(kiosks, "corner")
		ready, _ := status.Conditions(kiosk).Get(status.ConditionReady)
		content, _ := kiosk.Object["status"].(map[string]any)
		return ready.Status == "True" && ready.ObservedGeneration == kiosk.GetGeneration() && status.ReconciledVersion(content) == version
	})
}

func (w *world) image() string {
	w.t.Helper()
	containers, _, err := unstructured.NestedSlice(w.Get(deployments, "corner").Object, "spec", "template", "spec", "containers")
	require.NoError(w.t, err)
	require.Len(w.t, containers, 1)
	image, _ := containers[0].(map[string]any)["image"].(string)
	return image
}

func TestKioskIsUpgradedAndBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, released(t, "1.0.0", "1.1.0")...)
	w.Create(sample(t, "1.0.0"))
	w.is("1.0.0")
	assert.Equal(t, "registry.example.com/counter:1.0", w.image())
	assert.Nil(t, w.Get(services, "corner"))
	available, _, err := unstructured.NestedSlice(w.Get(kiosks, "corner").Object, "status", "versions", "available", "versions")
	require.NoError(t, err)
	assert.Equal(t, []any{map[string]any{"name": "1.0.0"}, map[string]any{"name": "1.1.0"}}, available)
	goods := w.Get(configMaps, "corner-goods")

	w.wants("1.1.0")
	w.is("1.1.0")
	assert.Equal(t, "registry.example.com/counter:1.1", w.image())
	assert.NotNil(t, w.Get(services, "corner"))
	assert.Equal(t, goods.GetResourceVersion(), w.Get(configMaps, "corner-goods").GetResourceVersion(), "what both releases render isn't even written")

	w.wants("2.0.0")
	w.Eventually("it says which versions there are", func() bool {
		ready, _ := status.Conditions(w.Get(kiosks, "corner")).Get(status.ConditionReady)
		return ready.Reason == "ConfigError" && strings.Contains(ready.Message, `no version "2.0.0": choose one of 1.0.0, 1.1.0`)
	})
	assert.Equal(t, "registry.example.com/counter:1.1", w.image(), "it stays what it was")

	w.wants("1.0.0")
	w.is("1.0.0")
	assert.Equal(t, "registry.example.com/counter:1.0", w.image())
	w.Eventually("what the old release doesn't render is pruned", func() bool { return w.Get(services, "corner") == nil })
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
		command := program.Command(append([]string{"render", "-f", "-"}, settings...)...)
		command.Stdin = bytes.NewReader(content)
		result := program.Run(t, command)
		assert.Equal(t, row.code, result.Code, row.reason)
		assert.Contains(t, result.Output(), row.want, row.reason)
		assert.NotContains(t, result.Output(), row.not, row.reason)
	}
}
