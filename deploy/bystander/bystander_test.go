package bystander_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const web = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: elsewhere}, spec: {replicas: 1, selector: {matchLabels: {app: web}},
	template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: nginx}]}}}}`

func inMemory(t *testing.T) deploy.Cluster {
	t.Helper()
	memory, err := dryrun.New(dryrun.Namespaces("shop"))
	require.NoError(t, err)
	return memory
}

// Somebody does the same in memory as on a real API server.
func TestBothClusters(t *testing.T) {
	t.Parallel()
	t.Run("in memory", func(t *testing.T) {
		t.Parallel()
		story(t, inMemory(t), "shop")
	})
	t.Run("a real one", func(t *testing.T) {
		t.Parallel()
		env := envtest.Start(t)
		api, err := cluster.New(t.Context(), env.Admin)
		require.NoError(t, err)
		story(t, api, env.Namespace)
		somebody := bystander.New(t, api, env.Namespace, "somebody")
		somebody.MergeSubresource(deployments, "web", "scale", `{"spec":{"replicas":4}}`)
		replicas, _, err := unstructured.NestedInt64(somebody.Get(deployments, "web").Object, "spec", "replicas")
		require.NoError(t, err)
		assert.Equal(t, int64(4), replicas)
	})
}

func story(t *testing.T, c deploy.Cluster, namespace string) {
	t.Helper()
	somebody := bystander.New(t, c, namespace, "somebody")
	assert.Empty(t, somebody.List(services))

	assert.Nil(t, somebody.Get(configMaps, "settings"), "absent")
	made := somebody.CreateYAML("# a comment\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: '1', b: '2'}\n")
	assert.Equal(t, namespace, made.GetNamespace())
	assert.NotEmpty(t, made.GetUID(), "as the cluster has it")
	assert.Equal(t, made, somebody.Get(configMaps, "settings"))
	assert.Equal(t, "somebody", made.GetManagedFields()[0].Manager)

	file := filepath.Join(t.TempDir(), "web.yaml")
	require.NoError(t, os.WriteFile(file, []byte(web), 0o600))
	made = somebody.CreateFile(file)
	assert.Equal(t, namespace, made.GetNamespace(), "whatever the file says")
	replicas, _, err := unstructured.NestedInt64(made.Object, "spec", "replicas")
	require.NoError(t, err, "numbers are those of objects")
	assert.Equal(t, int64(1), replicas)

	somebody.Merge(configMaps, "settings", `{"data":{"a":null,"c":"3"}}`)
	assert.Equal(t, map[string]any{"b": "2", "c": "3"}, somebody.Get(configMaps, "settings").Object["data"])
	somebody.CreateYAML("{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {type: LoadBalancer, selector: {app: web}, ports: [{port: 80}]}}")
	somebody.MergeSubresource(services, "web", "status", `{"status":{"loadBalancer":{"ingress":[{"hostname":"web.example.com"}]}}}`)
	assert.Contains(t, fmt.Sprint(somebody.Get(services, "web").Object["status"]), "web.example.com")

	intent := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"b": "4"}}}
	intent.SetGroupVersionKind(configMaps)
	intent.SetName("settings")
	applied := bystander.New(t, c, namespace, "another").Apply(intent)
	assert.Equal(t, map[string]any{"b": "4", "c": "3"}, applied.Object["data"], "it is taken over from somebody")
	assert.Empty(t, intent.GetNamespace(), "the caller's object stays as it is")

	listed := somebody.List(services)
	require.Len(t, listed, 1)
	assert.Equal(t, "web", listed[0].GetName())
	somebody.Delete(configMaps, "settings")
	somebody.Eventually("it is gone", func() bool { return somebody.Get(configMaps, "settings") == nil })
	somebody.Delete(configMaps, "settings")

	everywhere := bystander.New(t, c, "", "somebody")
	everywhere.CreateYAML("{apiVersion: v1, kind: Namespace, metadata: {name: " + namespace + "-more}}")
	assert.NotNil(t, somebody.Get(namespaces, namespace+"-more"), "what lives in no namespace is the same from each")
	somebody.Delete(namespaces, namespace+"-more")
}

func TestFailures(t *testing.T) {
	t.Parallel()
	memory := inMemory(t)
	settings := bystander.New(t, memory, "shop", "somebody").CreateYAML("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}")
	unknown := settings.DeepCopy()
	unknown.SetKind("Cart")
	dir := t.TempDir()
	for name, text := range map[string]string{"two.yaml": "kind: ConfigMap\n---\nkind: ConfigMap\n", "none.yaml": "---\n# nothing\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for _, row := range []struct {
		reason string
		do     func(b *bystander.Bystander)
		want   string
	}{
		{"it is there already", func(b *bystander.Bystander) { b.Create(settings) }, "bystander somebody: create ConfigMap shop/settings: "},
		{"there is no such kind", func(b *bystander.Bystander) { b.Create(unknown) }, "bystander somebody: Cart settings: kind Cart of v1 is not served"},
		{"there is no object", func(b *bystander.Bystander) { b.Apply(nil) }, "bystander somebody: nil object"},
		{"a field that there isn't", func(b *bystander.Bystander) {
			b.CreateYAML("{apiVersion: v1, kind: ConfigMap, metadata: {name: other}, datum: {}}")
		}, "bystander somebody: create ConfigMap shop/other: "},
		{"a key that stands twice", func(b *bystander.Bystander) { b.CreateYAML("{kind: ConfigMap, kind: Secret}") }, `"kind" already set in map`},
		{"no kind", func(b *bystander.Bystander) { b.CreateYAML("{apiVersion: v1}") }, "bystander somebody: not an object: Object 'Kind' is missing in '{\"apiVersion\":\"v1\"}':\n{apiVersion: v1}"},
		{"a list", func(b *bystander.Bystander) { b.CreateYAML("[1]") }, "bystander somebody: not an object: "},
		{"several objects", func(b *bystander.Bystander) { b.CreateFile(filepath.Join(dir, "two.yaml")) }, "two.yaml: 2 objects: want exactly one"},
		{"no object in a file", func(b *bystander.Bystander) { b.CreateFile(filepath.Join(dir, "none.yaml")) }, "none.yaml: 0 objects: want exactly one"},
		{"several in a text", func(b *bystander.Bystander) { b.CreateYAML(web + "\n---\n" + web) }, "bystander somebody: 2 objects: want exactly one"},
		{"no file", func(b *bystander.Bystander) { b.CreateFile(filepath.Join(dir, "gone.yaml")) }, "gone.yaml: no such file"},
		{"an edit of what isn't there", func(b *bystander.Bystander) { b.Merge(configMaps, "gone", `{}`) }, "bystander somebody: merge into ConfigMap shop/gone: "},
		{"a patch that is none", func(b *bystander.Bystander) { b.Merge(configMaps, "settings", `{`) }, "bystander somebody: merge into ConfigMap shop/settings: "},
		{"a kind to get", func(b *bystander.Bystander) { b.Get(unknown.GroupVersionKind(), "cart") }, "bystander somebody: Cart cart: kind Cart of v1 is not served"},
		{"a condition that doesn't hold", func(b *bystander.Bystander) {
			b.Within(time.Millisecond).Eventually("the moon is blue", func() bool { return false })
		}, "bystander somebody: timed out after 1ms waiting until the moon is blue"},
	} {
		message := failure(t, func(t bystander.T) { row.do(bystander.New(t, memory, "shop", "somebody")) })
		assert.Contains(t, message, row.want, row.reason)
	}
	require.NoError(t, memory.(*dryrun.Cluster).Fail(dryrun.Fault{Kind: configMaps, Code: 503}))
	for verb, do := range map[string]func(b *bystander.Bystander){
		"get ConfigMap shop/settings":    func(b *bystander.Bystander) { b.Get(configMaps, "settings") },
		"list ConfigMap shop/*":          func(b *bystander.Bystander) { b.List(configMaps) },
		"delete ConfigMap shop/settings": func(b *bystander.Bystander) { b.Delete(configMaps, "settings") },
	} {
		message := failure(t, func(t bystander.T) { do(bystander.New(t, memory, "shop", "somebody")) })
		assert.Contains(t, message, "bystander somebody: "+verb+": ")
	}
}

// A cleanup has no context any more.
func TestInACleanup(t *testing.T) {
	t.Parallel()
	memory := inMemory(t)
	t.Run("a test that cleans up", func(t *testing.T) {
		somebody := bystander.New(t, memory, "shop", "somebody")
		somebody.CreateYAML("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}")
		t.Cleanup(func() { somebody.Delete(configMaps, "settings") })
	})
	assert.Nil(t, bystander.New(t, memory, "shop", "somebody").Get(configMaps, "settings"))
}

func TestEventually(t *testing.T) {
	t.Parallel()
	asked := 0
	somebody := bystander.New(t, inMemory(t), "shop", "somebody")
	somebody.Eventually("the third time", func() bool { asked++; return asked == 3 })
	assert.Equal(t, 3, asked)
	somebody.Within(0).Eventually("at once", func() bool { return true })
}
