package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// discovered is a server whose discovery can be changed; it counts who asks.
type discovered struct {
	asked atomic.Int32
	mu    sync.Mutex
	kinds []string
	pause time.Duration
}

func (d *discovered) serve(kinds ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kinds = kinds
}

func (d *discovered) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, "/apis/shop/v1") {
		http.NotFound(w, r)
		return
	}
	d.asked.Add(1)
	time.Sleep(d.pause)
	d.mu.Lock()
	defer d.mu.Unlock()
	var entries []string
	for _, kind := range d.kinds {
		entries = append(entries, fmt.Sprintf(`{"name":%q,"kind":%q,"namespaced":true}`, strings.ToLower(kind)+"s", kind))
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"resources":[%s]}`, strings.Join(entries, ","))
}

func TestDiscovery(t *testing.T) {
	t.Parallel()
	one, late := schema.GroupVersionKind{Group: "shop", Version: "v1", Kind: "One"}, schema.GroupVersionKind{Group: "shop", Version: "v1", Kind: "Late"}
	start := func(t *testing.T, kinds ...string) (*discovered, deploy.Port) {
		t.Helper()
		d := &discovered{kinds: kinds}
		server := httptest.NewServer(d)
		t.Cleanup(server.Close)
		return d, newCluster(t, &rest.Config{Host: server.URL}).Port()
	}
	t.Run("a burst of one unknown kind asks once", func(t *testing.T) {
		t.Parallel()
		d, port := start(t, "One")
		for range 100 {
			_, err := port.Scope(t.Context(), late)
			var unknown *deploy.KindUnknownError
			require.ErrorAs(t, err, &unknown)
		}
		assert.LessOrEqual(t, d.asked.Load(), int32(2), "twice if this took half a second")
	})
	t.Run("a kind that appears is found, though it was asked for before", func(t *testing.T) {
		t.Parallel()
		d, port := start(t, "One")
		_, err := port.Scope(t.Context(), late)
		require.Error(t, err)
		d.serve("One", "Late")
		require.Eventually(t, func() bool { _, err := port.Scope(t.Context(), late); return err == nil }, patience, 20*time.Millisecond)
	})
	t.Run("many that ask at the same time ask once", func(t *testing.T) {
		t.Parallel()
		d, port := start(t, "One")
		d.pause = 50 * time.Millisecond
		var running sync.WaitGroup
		for range 50 {
			running.Go(func() {
				_, err := port.Scope(t.Context(), one)
				assert.NoError(t, err)
			})
		}
		running.Wait()
		assert.EqualValues(t, 1, d.asked.Load())
	})
}

func definition(t testing.TB, env *envtest.Env, scope, plural string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "definition.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[3]s.%[1]s.operkit.dev}
spec:
  group: %[1]s.operkit.dev
  names: {kind: Mover, listKind: MoverList, plural: %[3]s, singular: mover}
  scope: %[2]s
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]`,
		env.Namespace, scope, plural), 0o600))
	env.InstallCRDs(t, file)
}

func undefine(t testing.TB, env *envtest.Env, plural string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // it cleans up too
	client, err := dynamic.NewForConfig(env.Admin)
	require.NoError(t, err)
	definitions := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	name := plural + "." + env.Namespace + ".operkit.dev"
	require.NoError(t, definitions.Delete(ctx, name, metav1.DeleteOptions{}))
	require.Eventually(t, func() bool {
		_, err := definitions.Get(ctx, name, metav1.GetOptions{})
		return err != nil
	}, patience, 20*time.Millisecond)
}

// A definition that is deleted and comes back otherwise: nothing is known for ever.
func TestRedefinedKind(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	mover := schema.GroupVersionKind{Group: env.Namespace + ".operkit.dev", Version: "v1", Kind: "Mover"}
	mine := deploy.Ref{Kind: mover, Namespace: env.Namespace, Name: "a"}
	manifest := func(ref deploy.Ref) *unstructured.Unstructured {
		obj := &unstructured.Unstructured{}
		obj.SetGroupVersionKind(ref.Kind)
		obj.SetNamespace(ref.Namespace)
		obj.SetName(ref.Name)
		return obj
	}
	definition(t, env, "Namespaced", "movers")
	live := newCluster(t, env.Admin).Port()
	watcher := env.User(t, "watcher", everything)
	watching := newCluster(t, watcher.Config)
	watch(t, watching, mover)
	_, err := live.Apply(t.Context(), manifest(mine), deploy.ApplyOptions{FieldManager: "m"})
	require.NoError(t, err)
	eventually(t, watching, mine, func(obj *unstructured.Unstructured) bool { return obj != nil })

	undefine(t, env, "movers")
	var unknown *deploy.KindUnknownError
	for name, call := range map[string]func() error{
		"get": func() error { _, err := live.Get(t.Context(), mine); return err },
		"apply": func() error {
			_, err := live.Apply(t.Context(), manifest(mine), deploy.ApplyOptions{FieldManager: "m"})
			return err
		},
		"view": func() error { _, err := watching.View().Get(t.Context(), mine); return err },
		"list": func() error { _, err := live.List(t.Context(), mover, "", deploy.ListOptions{}); return err },
	} {
		require.Eventually(t, func() bool { return errors.As(call(), &unknown) }, patience, 10*time.Millisecond,
			"%s: once the API server itself knows, and for a watch once its stream has ended", name)
	}

	definition(t, env, "Cluster", "wanderers")
	t.Cleanup(func() { undefine(t, env, "wanderers") })
	everywhere := deploy.Ref{Kind: mover, Name: "a"}
	require.Eventually(t, func() bool {
		scope, err := live.Scope(t.Context(), mover)
		return err == nil && scope == deploy.ClusterScoped
	}, patience, 10*time.Millisecond)
	_, err = live.Apply(t.Context(), manifest(everywhere), deploy.ApplyOptions{FieldManager: "m"})
	require.NoError(t, err)
	_, err = live.Get(t.Context(), mine)
	var invalid *deploy.InvalidManifestError
	require.ErrorAs(t, err, &invalid, "who still believes in its namespace is told")
	eventually(t, watching, everywhere, func(obj *unstructured.Unstructured) bool { return obj != nil })
	t.Run("its watch goes on", func(t *testing.T) {
		require.Eventually(t, func() bool {
			mark := env.Mark(t)
			obj, err := watching.View().Get(t.Context(), everywhere)
			return err == nil && obj != nil && len(env.CallsSince(t, mark, watcher).Reads()) == 0
		}, patience, 100*time.Millisecond)
	})
	t.Run("its next name is found by the first request", func(t *testing.T) {
		undefine(t, env, "wanderers")
		definition(t, env, "Cluster", "rovers")
		_, err := live.Apply(t.Context(), manifest(everywhere), deploy.ApplyOptions{FieldManager: "m"})
		require.NoError(t, err)
		undefine(t, env, "rovers")
		definition(t, env, "Cluster", "wanderers") // as the test's end expects it
	})
}

// Two versions of one kind are the same objects: what is written through one is read
// through the other.
func TestVersionsOfOneKind(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	v1, v2 := schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler"}, schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}
	config, gate := gated(env.Config)
	c := newCluster(t, config, cluster.Namespaces(env.Namespace))
	watch(t, c, v1, v2)
	gate.cut() // so that the informers don't show what is written
	manifest := func(replicas int) *unstructured.Unstructured {
		return object(t, env.Namespace, fmt.Sprintf("{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {maxReplicas: %d, scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}}}", replicas))
	}
	ref := func(kind schema.GroupVersionKind) deploy.Ref {
		return deploy.Ref{Kind: kind, Namespace: env.Namespace, Name: "web"}
	}
	for i := 1; i < 4; i++ {
		applied, err := c.Port().Apply(t.Context(), manifest(i), deploy.ApplyOptions{FieldManager: "m"})
		require.NoError(t, err)
		for _, kind := range []schema.GroupVersionKind{v1, v2} {
			live, err := c.View().Get(t.Context(), ref(kind))
			require.NoError(t, err)
			require.NotNil(t, live, kind)
			assert.Equal(t, kind, live.GroupVersionKind())
			assert.Equal(t, applied.Object.GetResourceVersion(), live.GetResourceVersion())
			listed, err := c.View().List(t.Context(), kind, env.Namespace, nil)
			require.NoError(t, err)
			require.Len(t, listed, 1)
			assert.Equal(t, live, listed[0])
		}
	}
	require.NoError(t, c.Port().Delete(t.Context(), ref(v2), deploy.DeleteOptions{}))
	for _, kind := range []schema.GroupVersionKind{v1, v2} {
		live, err := c.View().Get(t.Context(), ref(kind))
		require.NoError(t, err)
		assert.Nil(t, live, kind)
	}
	gate.open(false)
}

// The answer to a write of a scale is a Scale: the object is then read.
func TestScaleIsNoObject(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	watch(t, c, deployment)
	applied := apply(t, must(deploy.NewManager(c)), object(t, env.Namespace, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "example.invalid/web:1"}]}}`))
	for i := int64(1); i <= 10; i++ {
		_, err := c.Port().Patch(t.Context(), applied.Ref, deploy.PatchRequest{Type: "application/merge-patch+json", Subresource: "scale", FieldManager: "scaler",
			Body: fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, i%2)})
		require.NoError(t, err)
		live, err := c.View().Get(t.Context(), applied.Ref)
		require.NoError(t, err)
		require.Equal(t, "Deployment", live.GetKind())
		replicas, _, _ := unstructured.NestedInt64(live.Object, "spec", "replicas")
		require.Equal(t, i%2, replicas)
	}
}
