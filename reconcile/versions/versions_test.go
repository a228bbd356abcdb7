package versions_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"syscall"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// snapshot is all that is in the cluster, without what differs between two worlds.
func snapshot(t *testing.T, h *reconciletest.Harness) string {
	t.Helper()
	var all []map[string]any
	for _, kind := range []schema.GroupVersionKind{houses, configMaps, deployments} {
		objects, err := h.Cluster().Port().List(t.Context(), kind, "", deploy.ListOptions{})
		require.NoError(t, err)
		for _, obj := range objects {
			content := obj.DeepCopy().Object
			for _, field := range []string{"uid", "resourceVersion", "managedFields"} {
				unstructured.RemoveNestedField(content, "metadata", field)
			}
			owners, _, _ := unstructured.NestedSlice(content, "metadata", "ownerReferences")
			for _, owner := range owners {
				delete(owner.(map[string]any), "uid")
			}
			if owners != nil {
				require.NoError(t, unstructured.SetNestedSlice(content, owners, "metadata", "ownerReferences"))
			}
			annotations := obj.GetAnnotations()
			for key := range annotations {
				if key == "operkit.dev/applied-operkit" { // it covers the uid of the owner
					annotations[key] = "some hash"
				}
			}
			all = append(all, content)
			(&unstructured.Unstructured{Object: content}).SetAnnotations(annotations)
		}
	}
	text, err := json.MarshalIndent(all, "", " ")
	require.NoError(t, err)
	return string(text)
}

// What a resource comes to is the same whether its controller runs here or in a process of its own.
func TestAChildDoesWhatAControllerDoes(t *testing.T) {
	t.Parallel()
	options := folder(t, "house", "1.0.0", "1.1.0")
	options.NameObjects = true
	pool := start(t, options)
	for _, row := range []struct {
		reason string
		spec   map[string]any
	}{
		{"objects", map[string]any{}},
		{"a workload, one that waits until it is ready, a Builder that reads, and a Reviser", map[string]any{"workload": true}},
		{"a gate that stays closed", map[string]any{"lock": "key"}},
		{"a readiness function", map[string]any{"judged": true}},
		{"a component that is disabled", map[string]any{"gone": "yes"}},
		{"an error of Setup, by its kind", map[string]any{"fail": "setup"}},
		{"a panic of Setup", map[string]any{"panic": true}},
		{"an error of a hook, which knows of the components", map[string]any{"fail": "after"}},
		{"all at once", map[string]any{"workload": true, "lock": "key", "judged": true, "gone": "yes", "say": true}},
	} {
		for _, version := range []string{"1.0.0", "1.1.0"} {
			t.Run(row.reason+"/"+version, func(t *testing.T) {
				t.Parallel()
				var snapshots []string
				var runs []string
				for _, controller := range []reconcile.Controller{House{version}, pool.Controllers()[0]} {
					h := reconciletest.New(t, controller, reconciletest.With(reconcile.NameObjects()))
					spec := map[string]any{"version": version}
					for key, value := range row.spec {
						spec[key] = value
					}
					h.Apply(house("home", spec))
					for range 6 {
						_, _ = h.Reconcile("House home")
					}
					snapshots = append(snapshots, snapshot(t, h))
					result, err := h.Reconcile("House home")
					runs = append(runs, fmt.Sprint(result, err))
				}
				assert.Equal(t, snapshots[0], snapshots[1])
				assert.Equal(t, runs[0], runs[1])
			})
		}
	}
}

// What a cluster-scoped resource has without a namespace is where the manager has it, for a child as well.
func TestClusterScopedResources(t *testing.T) {
	t.Parallel()
	options := folder(t, "lab", "1.0.0", "1.1.0")
	options.DefaultNamespace = "platform"
	pool := start(t, options)
	resource := lab("l", map[string]any{"version": "1.0.0", "setup": "generate"})
	resource.SetUID("uid-of-l")
	memory, err := dryrun.New(dryrun.Schemaless(), dryrun.AnyKind(labs.GroupKind()), dryrun.Objects(resource))
	require.NoError(t, err)
	manager, err := deploy.NewManager(memory, deploy.DefaultNamespace("platform"))
	require.NoError(t, err)
	r, err := reconcile.New(pool.Controllers()[0], manager, reconcile.Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	for _, version := range []string{"1.0.0", "1.1.0"} {
		body := fmt.Appendf(nil, `{"spec":{"version":%q}}`, version)
		_, err := memory.Port().Patch(t.Context(), deploy.RefOf(resource), deploy.PatchRequest{Type: types.MergePatchType, Body: body, FieldManager: "somebody"})
		require.NoError(t, err)
		_, err = r.Reconcile(t.Context(), request.Request{Key: deploy.Ref{Kind: labs, Name: "l"}})
		require.NoError(t, err)
		seed, err := memory.View().Get(t.Context(), deploy.Ref{Kind: secrets, Namespace: "platform", Name: "seed"})
		require.NoError(t, err)
		require.NotNil(t, seed)
		assert.Equal(t, map[string]any{"value": base64.StdEncoding.EncodeToString([]byte("of 1.0.0"))}, seed.Object["data"], "made once, read back by %s", version)
	}
}

func TestUnchangedContentsAreNotAskedFor(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "house", "1.0.0"))
	resource := house("home", map[string]any{"version": "1.0.0"})
	resource.SetNamespace("town")
	resource.SetUID("uid-of-home")
	memory, err := dryrun.New(dryrun.Schemaless(), dryrun.Objects(resource))
	require.NoError(t, err)
	manager, err := deploy.NewManager(memory)
	require.NoError(t, err)
	r, err := reconcile.New(pool.Controllers()[0], manager, reconcile.Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	reconciled := func(reason string, contents int) {
		before := pool.Report()[0].Calls["content"]
		_, err := r.Reconcile(t.Context(), request.Request{Key: deploy.Ref{Kind: houses, Namespace: "town", Name: "home"}})
		require.NoError(t, err)
		assert.Equal(t, contents, pool.Report()[0].Calls["content"]-before, reason)
	}
	reconciled("each object is made of its content", 2)
	calls := memory.Record()
	for range 5 {
		reconciled("what is as it should be is not asked for", 0)
	}
	assert.Empty(t, calls.Calls(), "nor is the cluster")
	base := deploy.Ref{Kind: configMaps, Namespace: "town", Name: "home-base"}
	_, err = memory.Port().Patch(t.Context(), base, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{"data":{"version":"spoilt"}}`), FieldManager: "somebody"})
	require.NoError(t, err)
	reconciled("what somebody else has changed is", 1)
	reconciled("and then no more", 0)
	obj, err := memory.View().Get(t.Context(), base)
	require.NoError(t, err)
	assert.Equal(t, "1.0.0", obj.Object["data"].(map[string]any)["version"])
}

func TestUpgrade(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "house", "1.0.0", "1.1.0"))
	h := reconciletest.New(t, pool.Controllers()[0])
	h.Apply(house("home", map[string]any{"version": "1.0.0"}), house("other", map[string]any{"version": "1.0.0"}))
	h.RunUntilSettled()
	h.Exists("ConfigMap home-cellar", "ConfigMap other-cellar")
	want := func(name, version string, more ...any) {
		h.Edit("House "+name, func(obj *unstructured.Unstructured) {
			require.NoError(t, unstructured.SetNestedField(obj.Object, version, "spec", "version"))
			for i := 0; i < len(more); i += 2 {
				require.NoError(t, unstructured.SetNestedField(obj.Object, more[i+1], "spec", more[i].(string)))
			}
		})
		h.RunUntilSettled()
	}
	want("home", "1.1.0")
	h.Exists("ConfigMap home-attic", "ConfigMap other-cellar")
	h.Gone("ConfigMap home-cellar")
	assert.Equal(t, "Stable", h.Condition("House home", "Ready").Reason)

	want("other", "1.1.0", "noJump", true)
	h.Exists("ConfigMap other-cellar")
	h.Gone("ConfigMap other-attic")
	updating := h.Condition("House other", "Updating")
	assert.Contains(t, updating.Message, "upgrade from 1.0.0 to 1.1.0: from 1.0.0 no way leads to 1.1.0: go by 1.0.5")

	want("other", "7.0.0")
	assert.Contains(t, h.Condition("House other", "Updating").Message, `there is no version "7.0.0": choose one of 1.0.0, 1.1.0`)
}

func TestAChildThatIsKilled(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "house", "1.0.0"))
	h := reconciletest.New(t, pool.Controllers()[0])
	h.Apply(house("home", map[string]any{"version": "1.0.0", "workload": true}))
	h.RunUntilSettled()
	for range 3 {
		before := pool.Report()[0]
		require.NotZero(t, before.PID)
		require.NoError(t, syscall.Kill(before.PID, syscall.SIGKILL))
		assert.Eventually(t, func() bool { return !pool.Report()[0].Running }, 10*time.Second, time.Millisecond)
		_, err := h.Reconcile("House home")
		for i := 0; err != nil && i < 20; i++ {
			time.Sleep(50 * time.Millisecond)
			_, err = h.Reconcile("House home")
		}
		require.NoError(t, err)
		assert.NotEqual(t, before.PID, pool.Report()[0].PID)
	}
	h.RunUntilSettled()
	h.Writes(0)
	h.Exists("ConfigMap home-door", "ConfigMap home-cellar", "Deployment home-web")
}

func TestFinalize(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "house", "1.0.0"))
	h := reconciletest.New(t, pool.Controllers()[0])
	h.Apply(house("home", map[string]any{"version": "1.0.0"}))
	h.RunUntilSettled()
	h.Delete("House home")
	h.RunUntilSettled()
	h.Deleted("ConfigMap home-base")
	h.Gone("House home", "ConfigMap home-base")
}

func TestWhatDeploysByItselfIsRefused(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "house", "1.0.0"))
	h := reconciletest.New(t, pool.Controllers()[0])
	h.Apply(house("home", map[string]any{"version": "1.0.0", "deploys": true}))
	_, err := h.Reconcile("House home")
	require.ErrorContains(t, err, "component own: versions_test.deployer has a method Deploy, but this version runs as a child, which renders only")
	h.Gone("ConfigMap home-base")
}
