package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/operkit/operkit/tools/hooks/metacontroller"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	catSets    = schema.GroupVersionKind{Group: "hooks.operkit.dev", Version: "v1", Kind: "CatSet"}
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

	composites  = schema.GroupVersionKind{Group: "metacontroller.k8s.io", Version: "v1alpha1", Kind: "CompositeController"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
)

// hookProgram is a hook in Python.
type hookProgram struct {
	url string
	mu  sync.Mutex
	// calls are the paths of the calls, with the names of the parents.
	calls []string
}

// startHook runs the hook until the test ends.
func startHook(t *testing.T) *hookProgram {
	t.Helper()
	command := exec.CommandContext(t.Context(), "python3", "testdata/hook.py")
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start(), "this test needs python3")
	lines := bufio.NewScanner(output)
	require.True(t, lines.Scan())
	h := &hookProgram{url: lines.Text()}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines.Scan() {
			h.mu.Lock()
			h.calls = append(h.calls, lines.Text())
			h.mu.Unlock()
		}
	}()
	t.Cleanup(func() { // the context has ended
		<-ended
		_ = command.Wait()
	})
	return h
}

// asked returns the calls since the last call of asked.
func (h *hookProgram) asked() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	calls := h.calls
	h.calls = nil
	return calls
}

// rights are those that the hooks of this test need.
var rights = []rbacv1.PolicyRule{
	{APIGroups: []string{"hooks.operkit.dev"}, Resources: []string{"catsets"}, Verbs: []string{"get", "list", "watch", "patch"}},
	{APIGroups: []string{"hooks.operkit.dev"}, Resources: []string{"catsets/status"}, Verbs: []string{"patch"}},
	{APIGroups: []string{"hooks.operkit.dev"}, Resources: []string{"catsets/finalizers"}, Verbs: []string{"update"}},
	{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch", "create", "patch", "delete"}},
	{APIGroups: []string{"events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
}

// definitionsRight lets the program notice at once that a kind is served.
var definitionsRight = rbacv1.PolicyRule{
	APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, Verbs: []string{"list", "watch"},
}

// What is wrong before anything runs names the flag or the file.
func TestStart(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		args []string
		want string
	}{
		"help":                      {[]string{"--help"}, "Kubernetes operator\n"},
		"no definitions":            {[]string{"run"}, "no definitions: set --definitions to a file or folder with CompositeControllers and DecoratorControllers, --cluster-definitions, or --watches to a watches.yaml"},
		"a file that isn't there":   {[]string{"run", "--definitions", "missing.yaml"}, "stat missing.yaml: no such file or directory"},
		"watches that aren't there": {[]string{"run", "--watches", "missing.yaml"}, "open missing.yaml: no such file or directory"},
		"a file without one":        {[]string{"run", "--definitions", "internal/controller/testdata/crds"}, "no CompositeController or DecoratorController of metacontroller.k8s.io/v1alpha1"},
	} {
		kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
		require.NoError(t, os.WriteFile(kubeconfig, []byte(nowhere), 0o600))
		result := program.Run(t, program.Command(append(row.args, "--kubeconfig", kubeconfig)...))
		assert.Equal(t, reason != "help", result.Code != 0, reason)
		assert.Contains(t, result.Output(), row.want, reason)
	}
}

// nowhere is a kubeconfig whose API server isn't asked.
const nowhere = `
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: a, context: {cluster: a}}]
current-context: a
`

// write returns the name of a file with definitions, with the address of a hook in the place of ADDRESS.
func write(t *testing.T, hook *hookProgram, definitions string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "controllers.yaml")
	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(definitions, "ADDRESS", hook.url)), 0o600))
	return file
}

// A hook in another language on a real API server, with no rights but those that it needs.
func TestLife(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.CRDs("internal/controller/testdata/crds"))
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	somebody := bystander.New(t, api, env.Namespace, "somebody")
	hook := startHook(t)
	definitions := write(t, hook, `
apiVersion: metacontroller.k8s.io/v1alpha1
kind: CompositeController
metadata: {name: catsets}
spec:
  parentResource: {apiVersion: hooks.operkit.dev/v1, resource: catsets}
  childResources:
  - {apiVersion: v1, resource: configmaps, updateStrategy: {method: InPlace}}
  hooks:
    sync: {webhook: {url: ADDRESS/sync}}
    finalize: {webhook: {url: ADDRESS/finalize}}
`)
	user := env.User(t, "hooks", envtest.InNamespace(rights...), envtest.ClusterWide(definitionsRight))
	start := func() *program.Process {
		return program.Start(t, program.Command("run", "--namespace", env.Namespace, "--kubeconfig", env.Kubeconfig(t, user), "--definitions", definitions))
	}
	process := start()
	tom := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "tom"},
		"spec":     map[string]any{"size": int64(2), "color": "blue", "selector": map[string]any{"matchLabels": map[string]any{"cats": "tom"}}},
	}}
	tom.SetGroupVersionKind(catSets)
	somebody.Create(tom)
	cats := func(want int64) {
		t.Helper()
		somebody.Eventually(fmt.Sprint(want, " cats"), func() bool {
			found, _, _ := unstructured.NestedInt64(somebody.Get(catSets, "tom").Object, "status", "cats")
			return found == want
		})
		env.AwaitQuiet(t, user)
	}
	cats(2)
	assert.Equal(t, "blue", somebody.Get(configMaps, "cat-1").Object["data"].(map[string]any)["color"])
	hook.asked()

	mark := env.Mark(t)
	process.Stop(t)
	process = start()
	somebody.Eventually("the program asks again", func() bool { return len(hook.asked()) > 0 })
	env.AwaitQuiet(t, user)
	assert.Empty(t, env.CallsSince(t, mark, user).Writes(), "a restart writes nothing")
	hook.asked()

	somebody.Merge(catSets, "tom", `{"spec":{"color":"red","size":1}}`)
	cats(1)
	assert.Equal(t, "red", somebody.Get(configMaps, "cat-0").Object["data"].(map[string]any)["color"])
	assert.Nil(t, somebody.Get(configMaps, "cat-1"))

	somebody.Delete(catSets, "tom")
	somebody.Eventually("tom is gone", func() bool { return somebody.Get(catSets, "tom") == nil })
	assert.Nil(t, somebody.Get(configMaps, "cat-0"), "the finalize hook has let its children go first")
	assert.True(t, strings.HasPrefix(hook.asked()[0], "/sync tom"))
	assert.Empty(t, env.Calls(t, user).Forbidden(), "its rights suffice")
	process.Stop(t)
}

// Two DecoratorControllers of one kind that has a controller of its own.
func TestDecoratorLife(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	somebody := bystander.New(t, api, env.Namespace, "somebody")
	hook := startHook(t)
	definitions := write(t, hook, `
apiVersion: metacontroller.k8s.io/v1alpha1
kind: DecoratorController
metadata: {name: notes}
spec:
  resources:
  - apiVersion: apps/v1
    resource: deployments
    ignoreStatusChanges: true
    annotationSelector: {matchExpressions: [{key: note, operator: Exists}]}
  attachments: [{apiVersion: v1, resource: configmaps, updateStrategy: {method: InPlace}}]
  hooks:
    sync: {version: v2, webhook: {url: ADDRESS/sync}}
    finalize: {version: v2, webhook: {url: ADDRESS/finalize}}
---
apiVersion: metacontroller.k8s.io/v1alpha1
kind: DecoratorController
metadata: {name: others}
spec:
  resources: [{apiVersion: apps/v1, resource: deployments, ignoreStatusChanges: true, labelSelector: {matchLabels: {other: "true"}}}]
  attachments: [{apiVersion: v1, resource: configmaps, updateStrategy: {method: InPlace}}]
  hooks: {sync: {version: v2, webhook: {url: ADDRESS/sync}}}
`)
	user := env.User(t, "hooks", envtest.InNamespace(
		rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"get", "list", "watch", "patch"}},
		rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments/finalizers"}, Verbs: []string{"update"}},
		rights[3], rights[4],
	), envtest.ClusterWide(definitionsRight))
	process := program.Start(t, program.Command("run", "--namespace", env.Namespace, "--kubeconfig", env.Kubeconfig(t, user), "--definitions", definitions))
	web := deployment("web", map[string]any{"note": "hello"})
	somebody.Create(web)
	noted := func(want string) {
		t.Helper()
		somebody.Eventually("noted: "+want, func() bool {
			found := somebody.Get(configMaps, "note-web")
			return want == "" && found == nil || want != "" && found != nil && found.Object["data"].(map[string]any)["note"] == want
		})
	}
	noted("hello")
	somebody.Eventually("it is ready", func() bool {
		ready, _, _ := unstructured.NestedInt64(somebody.Get(deployments, "web").Object, "status", "readyReplicas")
		return ready == 1
	})
	env.AwaitQuiet(t, user)
	assert.Equal(t, "true", somebody.Get(deployments, "web").GetLabels()["noted"])
	hook.asked()

	mark := env.Mark(t)
	somebody.Merge(deployments, "web", `{"spec":{"replicas":2}}`)
	somebody.Eventually("there are two", func() bool {
		ready, _, _ := unstructured.NestedInt64(somebody.Get(deployments, "web").Object, "status", "readyReplicas")
		return ready == 2
	})
	env.AwaitQuiet(t, user)
	assert.Empty(t, env.CallsSince(t, mark, user).Writes(), "what its controller does needs no write")
	assert.LessOrEqual(t, len(hook.asked()), 2, "a new spec brings it, and its own controller's annotation; the status doesn't")

	somebody.Merge(deployments, "web", `{"metadata":{"annotations":{"note":"bye"}}}`)
	noted("bye")
	somebody.Merge(deployments, "web", `{"metadata":{"annotations":{"note":null}}}`)
	noted("")
	somebody.Eventually("it is let go", func() bool {
		left := somebody.Get(deployments, "web")
		return len(left.GetFinalizers()) == 0 && left.GetLabels()["noted"] == ""
	})
	assert.Empty(t, env.Calls(t, user).Forbidden(), "its rights suffice")
	process.Stop(t)
}

// A hook that doesn't respond holds up its own parents only, however many there are.
func TestSilentHook(t *testing.T) {
	t.Parallel()
	t.Run("hooks 24: the parents of others are reconciled meanwhile", func(t *testing.T) {
		t.Parallel()
		env := envtest.Start(t, envtest.CRDs("internal/controller/testdata/crds"))
		api, err := cluster.New(t.Context(), env.Admin)
		require.NoError(t, err)
		somebody := bystander.New(t, api, env.Namespace, "somebody")
		hook := startHook(t)
		var calls, most atomic.Int32
		silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // from then on the server notices that the caller has gone
			now := calls.Add(1)
			defer calls.Add(-1)
			for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
			}
			<-r.Context().Done()
		}))
		defer silent.Close()
		definitions := write(t, hook, strings.ReplaceAll(`
apiVersion: metacontroller.k8s.io/v1alpha1
kind: CompositeController
metadata: {name: silent}
spec:
  parentResource: {apiVersion: hooks.operkit.dev/v1, resource: catsets}
  hooks: {sync: {webhook: {url: SILENT/sync, timeout: 60s}}}
---
apiVersion: metacontroller.k8s.io/v1alpha1
kind: DecoratorController
metadata: {name: notes}
spec:
  resources: [{apiVersion: apps/v1, resource: deployments, labelSelector: {matchLabels: {noted: please}}}]
  attachments: [{apiVersion: v1, resource: configmaps}]
  hooks: {sync: {version: v2, webhook: {url: ADDRESS/sync}}}
`, "SILENT", silent.URL))
		user := env.User(t, "hooks", envtest.InNamespace(append(rights,
			rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"get", "list", "watch", "patch"}})...),
			envtest.ClusterWide(definitionsRight))
		process := program.Start(t, program.Command("run", "--namespace", env.Namespace, "--kubeconfig", env.Kubeconfig(t, user), "--definitions", definitions))
		for i := range 40 {
			one := &unstructured.Unstructured{Object: map[string]any{
				"metadata": map[string]any{"name": fmt.Sprint("tom-", i)},
				"spec":     map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"a": "b"}}},
			}}
			one.SetGroupVersionKind(catSets)
			somebody.Create(one)
		}
		somebody.Eventually("the hook is asked", func() bool { return calls.Load() == 4 })
		web := deployment("web", map[string]any{"note": "hello"})
		web.SetLabels(map[string]string{"noted": "please"})
		somebody.Create(web)
		somebody.Eventually("another one works", func() bool { return somebody.Get(configMaps, "note-web") != nil })
		assert.EqualValues(t, 4, most.Load(), "as many as there are workers for a kind")
		assert.EqualValues(t, 4, calls.Load(), "meanwhile the hook is as silent as before")
		process.Stop(t)
	})
}

// deployment is a Deployment with annotations.
func deployment(name string, annotations map[string]any) *unstructured.Unstructured {
	d := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": name, "annotations": annotations},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": name}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": name}},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": name, "image": "web:1"}}},
			},
		},
	}}
	d.SetGroupVersionKind(deployments)
	return d
}

// Definitions that come, change and go while the program runs.
func TestClusterDefinitions(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.OwnCluster(), envtest.CRDs("config/crd", "internal/controller/testdata/crds"))
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	somebody := bystander.New(t, api, env.Namespace, "somebody")
	hook := startHook(t)
	user := env.User(t, "hooks", envtest.InNamespace(rights...), envtest.ClusterWide(definitionsRight, rights[4],
		rbacv1.PolicyRule{APIGroups: []string{"metacontroller.k8s.io"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}}))
	process := program.Start(t, program.Command("run", "--namespace", env.Namespace, "--kubeconfig", env.Kubeconfig(t, user), "--cluster-definitions"))
	tom := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "tom"},
		"spec":     map[string]any{"size": int64(1), "color": "blue", "selector": map[string]any{"matchLabels": map[string]any{"cats": "tom"}}},
	}}
	tom.SetGroupVersionKind(catSets)
	somebody.Create(tom)
	definition := func(hooks map[string]any) map[string]any {
		return map[string]any{
			"parentResource": map[string]any{"apiVersion": "hooks.operkit.dev/v1", "resource": "catsets"},
			"childResources": []any{map[string]any{"apiVersion": "v1", "resource": "configmaps", "updateStrategy": map[string]any{"method": "InPlace"}}},
			"hooks":          hooks,
		}
	}
	catsets := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "catsets"}, "spec": definition(map[string]any{"sync": map[string]any{"webhook": map[string]any{"url": hook.url + "/sync"}}}),
	}}
	catsets.SetGroupVersionKind(composites)
	color := func(want string) {
		t.Helper()
		somebody.Eventually("the cat is "+want, func() bool {
			cat := somebody.Get(configMaps, "cat-0")
			return cat != nil && cat.Object["data"].(map[string]any)["color"] == want
		})
	}
	ended := func(times int) {
		t.Helper()
		somebody.Eventually("parents aren't reconciled any more", func() bool {
			return strings.Count(process.Output(), `msg="not watching any more" kind=CatSet`) == times
		})
	}
	somebody.Create(catsets)
	color("blue")
	env.AwaitQuiet(t, user)
	hook.asked()
	t.Run("hooks 12: one that changes counts as it is", func(t *testing.T) {
		somebody.Merge(composites, "catsets", `{"spec":{"hooks":{"sync":{"webhook":{"url":"`+hook.url+`/other"}}}}}`)
		somebody.Eventually("the new hook is asked", func() bool {
			calls := hook.asked()
			return len(calls) > 0 && strings.HasPrefix(calls[len(calls)-1], "/other ")
		})
	})
	t.Run("hooks 12: one with a mistake has no controller, and is told so", func(t *testing.T) {
		for _, row := range []struct{ patch, want string }{
			{`{"spec":{"hooks":{"sync":{"webhook":null,"exec":{"command":["sh"]}}}}}`, "spec.hooks.sync.exec: only the definition in a file may run a program"},
			{`{"spec":{"colour":"red"}}`, `unknown field "colour"`},
		} {
			somebody.Merge(composites, "catsets", row.patch)
			somebody.Eventually(row.want, func() bool {
				events, err := api.Port().List(t.Context(), schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"}, "", deploy.ListOptions{})
				require.NoError(t, err)
				return slices.ContainsFunc(events, func(e *unstructured.Unstructured) bool {
					note, _, _ := unstructured.NestedString(e.Object, "note")
					return e.Object["reason"] == metacontroller.EventInvalid && strings.Contains(note, row.want)
				})
			})
		}
		ended(2)
		somebody.Merge(catSets, "tom", `{"spec":{"color":"red"}}`)
		env.AwaitQuiet(t, user)
		color("blue")
	})
	t.Run("hooks 12: a definition that is corrected counts again", func(t *testing.T) {
		somebody.Merge(composites, "catsets", `{"spec":{"colour":null,"hooks":{"sync":{"exec":null,"webhook":{"url":"`+hook.url+`/sync"}}}}}`)
		color("red")
	})
	t.Run("hooks 12: one that is gone has no controller", func(t *testing.T) {
		somebody.Delete(composites, "catsets")
		ended(3)
		somebody.Merge(catSets, "tom", `{"spec":{"color":"green"}}`)
		env.AwaitQuiet(t, user)
		color("red")
	})
	process.Stop(t)
}
