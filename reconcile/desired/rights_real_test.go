package desired_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var (
	catteries = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Cattery"}
	lairs     = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Lair"}
	quotas    = schema.GroupVersionKind{Version: "v1", Kind: "ResourceQuota"}
)

// entitled is a controller that runs on a real API server under exactly the rights that it declares.
type entitled struct {
	*testing.T
	env    *envtest.Env
	user   *envtest.User
	others deploy.Port
	parent deploy.Ref
	// dispensable is a call that may be refused, since nothing depends on it.
	dispensable string
}

// runEntitled runs a controller. A namespaced parent and its children are in the namespace of the test.
func runEntitled(t *testing.T, c *desired.Controller[desired.Unstructured], isNamespaced bool) *entitled {
	t.Helper()
	folder := t.TempDir()
	for kind, scope := range map[string]string{"CatSet": "Namespaced", "CatHouse": "Namespaced", "Cattery": "Cluster", "Lair": "Cluster"} {
		definition := strings.Replace(definitionOf(kind), "scope: Namespaced", "scope: "+scope, 1)
		require.NoError(t, os.WriteFile(filepath.Join(folder, kind+".yaml"), []byte(definition), 0o600))
	}
	start := []envtest.Option{envtest.CRDs(folder)}
	if !isNamespaced { // elsewhere the claims of other tests count, too, and their owners are of any kind
		start = append(start, envtest.OwnCluster())
	}
	env := envtest.Start(t, start...)
	admin, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	w := &entitled{T: t, env: env, others: admin.Port(), parent: deploy.Ref{Kind: c.Kind(), Name: "tom-" + env.Namespace}}
	grant, options := envtest.ClusterWide, []cluster.Option{}
	if isNamespaced {
		w.parent.Namespace = env.Namespace
		grant, options = envtest.InNamespace, append(options, cluster.Namespaces(env.Namespace))
	}
	manager, err := deploy.NewManager(admin)
	require.NoError(t, err)
	declaring, err := c.Reconciler(t.Context(), watch.Env{Manager: manager, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	require.NoError(t, err)
	w.user = env.User(t, "operator", grant(rulesOf(declaring.(watch.RightsProvider).Rights())...))
	operator, err := cluster.New(t.Context(), w.user.Config, options...)
	require.NoError(t, err)
	w.run(c, operator)
	return w
}

func rulesOf(rights []deploy.Right) (rules []rbacv1.PolicyRule) {
	for _, right := range rights {
		resource := strings.ToLower(right.Kind.Kind) + "s"
		if right.Kind == catteries {
			resource = "catterys"
		}
		if right.Subresource != "" {
			resource += "/" + right.Subresource
		}
		rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{right.Kind.Group}, Resources: []string{resource}, Verbs: right.Verbs})
	}
	return rules
}

func (w *entitled) run(c *desired.Controller[desired.Unstructured], over deploy.Cluster) {
	manager, err := deploy.NewManager(over)
	require.NoError(w, err)
	logger := slog.New(slog.NewTextHandler(w.Output(), nil))
	engine, err := watch.New(manager.View(), watch.Logger(logger))
	require.NoError(w, err)
	reconciler, err := c.Reconciler(w.Context(), watch.Env{Manager: manager, Watcher: engine, Logger: logger, Now: time.Now})
	require.NoError(w, err)
	require.NoError(w, engine.Control(c.Kind(), reconciler))
	ctx, stop := context.WithCancel(w.Context())
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(ctx) }()
	w.Cleanup(func() {
		stop()
		assert.NoError(w, <-ended)
	})
}

func (w *entitled) create(kind schema.GroupVersionKind, content map[string]any) {
	obj := &unstructured.Unstructured{Object: content}
	obj.SetGroupVersionKind(kind)
	obj.SetNamespace(w.parent.Namespace)
	_, err := w.others.Create(w.Context(), obj, deploy.CreateOptions{})
	require.NoError(w, err)
}

// limit creates a quota, which counts from now on.
func (w *entitled) limit(resource, most string) {
	w.create(quotas, map[string]any{"metadata": map[string]any{"name": "one"}, "spec": map[string]any{"hard": map[string]any{resource: most}}})
	assert.Eventually(w, func() bool {
		quota, err := w.others.Get(w.Context(), deploy.Ref{Kind: quotas, Namespace: w.parent.Namespace, Name: "one"})
		require.NoError(w, err)
		used, _, _ := unstructured.NestedMap(quota.Object, "status", "used")
		return len(used) > 0
	}, time.Minute, 50*time.Millisecond)
}

// edit changes the parent as somebody else.
func (w *entitled) edit(change func(p *unstructured.Unstructured)) {
	assert.Eventually(w, func() bool {
		p, err := w.others.Get(w.Context(), w.parent)
		require.NoError(w, err)
		change(p)
		_, err = w.others.Update(w.Context(), p, deploy.UpdateOptions{FieldManager: "somebody"})
		return err == nil
	}, time.Minute, 50*time.Millisecond)
}

// becomes waits until the status of the parent is about its spec and a number of children.
func (w *entitled) becomes(children int64, reason string) {
	w.Helper()
	var p *unstructured.Unstructured
	if !assert.Eventually(w, func() (is bool) {
		var err error
		p, err = w.others.Get(w.Context(), w.parent)
		require.NoError(w, err)
		status, _ := p.Object["status"].(map[string]any)
		return status["children"] == children && status["observedGeneration"] == p.GetGeneration() && status["error"] == nil
	}, time.Minute, 100*time.Millisecond, reason) {
		w.Fatal(p.Object["status"])
	}
}

// live lives the life of a parent: its children are created, changed, repaired, deleted and kept until the end.
func (w *entitled) live(before, after []any) {
	p := parent(before...)
	p.SetName(w.parent.Name)
	p.SetLabels(map[string]string{"adopts": w.parent.Name})
	w.create(w.parent.Kind, p.Object)
	w.becomes(int64(len(before)), "they are created")
	w.edit(func(p *unstructured.Unstructured) { p.Object["spec"] = map[string]any{"children": after} })
	w.becomes(int64(len(before)), "they are changed")
	w.edit(func(p *unstructured.Unstructured) { p.Object["spec"] = map[string]any{"children": after[:1]} })
	w.becomes(1, "the others are deleted")
	require.NoError(w, w.others.Delete(w.Context(), w.parent, deploy.DeleteOptions{}))
	w.edit(func(p *unstructured.Unstructured) { p.SetAnnotations(map[string]string{"free": "true"}) })
	assert.Eventually(w, func() bool {
		p, err := w.others.Get(w.Context(), w.parent)
		return err == nil && p == nil
	}, time.Minute, 100*time.Millisecond, "it is gone")
	// A creation that a quota refuses in a dry run isn't a missing right.
	refused := w.env.Calls(w, w.user).Forbidden().Filter(func(call audit.Call) bool {
		return !call.DryRun && call.Verb+" "+call.Target() != w.dispensable
	})
	assert.Empty(w, refused, "the declared rights suffice")
}

// whole is a Syncer with all methods. Errors are in the status.
type whole struct {
	all
	reporter
}

func (s whole) Sync(r desired.Request[desired.Unstructured]) (desired.Response, error) {
	return s.script.Sync(r)
}

// TestRightsSuffice runs each strategy under the declared rights.
func TestRightsSuffice(t *testing.T) {
	keepAll := func(kind schema.GroupVersionKind) func(r desired.Request[desired.Unstructured]) []any {
		return func(r desired.Request[desired.Unstructured]) (kept []any) {
			for _, one := range r.Children.Of(kind) {
				kept = append(kept, one)
			}
			return kept
		}
	}
	children := func(version int64) []any {
		return []any{configMap("a", fmt.Sprint("k=", version)), house("h", version), service("s", 80+version)}
	}
	for _, strategy := range []desired.Strategy{
		desired.OnDelete, desired.InPlace, desired.Replace, desired.Recreate, desired.RollingInPlace, desired.RollingRecreate,
	} {
		t.Run("desired 72: the declared rights suffice for "+string(strategy), func(t *testing.T) {
			t.Parallel()
			w := runEntitled(t, desired.New(catSets, whole{all: all{teardown{keep: keepAll(configMaps)}}},
				desired.Child(configMaps, strategy), desired.Child(catHouses, strategy), desired.Child(services, strategy)), true)
			w.limit("count/services", "1")
			orphan := configMap("orphan")
			orphan["metadata"].(map[string]any)["labels"] = map[string]any{"cat": w.parent.Name}
			w.create(configMaps, orphan)
			w.live(children(1), children(2))
		})
	}
	t.Run("desired 72: they suffice for the strategies of annotations", func(t *testing.T) {
		t.Parallel()
		w := runEntitled(t, desired.New(catSets, whole{all: all{teardown{keep: keepAll(configMaps)}}}, desired.Child(configMaps, desired.OnDelete)), true)
		w.dispensable = "list persistentvolumeclaims" // no claim is a built-in object's
		both := func(value string) []any {
			return []any{annotated(configMap("a", value), "Replace"), annotated(configMap("b", value), "RecreateOnChange")}
		}
		w.live(both("k=1"), both("k=2"))
	})
	t.Run("desired 72: they suffice for revisions", func(t *testing.T) {
		t.Parallel()
		w := runEntitled(t, desired.New(catSets, whole{all: all{teardown{keep: keepAll(configMaps)}}},
			desired.Child(configMaps, desired.RollingInPlace), desired.Child(catHouses, desired.RollingRecreate),
			desired.Child(services, desired.InPlace), desired.Revisions()), true)
		w.live(children(1), children(2))
		written := w.env.Calls(w, w.user).Writes().Filter(func(call audit.Call) bool { return call.Resource == "controllerrevisions" })
		assert.GreaterOrEqual(t, len(written), 4, "a revision for each state of the fields, and the names of those that wait")
	})
	t.Run("desired 72: they suffice for cluster-scoped children", func(t *testing.T) {
		t.Parallel()
		w := runEntitled(t, desired.New(catteries, whole{all: all{teardown{keep: keepAll(lairs)}}}, desired.Child(lairs, desired.Recreate),
			desired.FinalizerName("cats")), false) // a name that roperator would give
		both := func(size int64) (lair []any) {
			for _, name := range []string{"a-", "b-"} {
				one := house(name+w.env.Namespace, size)
				one["kind"] = lairs.Kind
				lair = append(lair, one)
			}
			return lair
		}
		w.live(both(1), both(2))
	})
}

// TestRealRelease adopts and releases over the cache of a real cluster, which keeps only a part of the managed fields.
func TestRealRelease(t *testing.T) {
	t.Parallel()
	t.Run("desired 73: an adopted object is released on the API server", func(t *testing.T) {
		t.Parallel()
		w := runEntitled(t, desired.New(catSets, keepers(), desired.Child(configMaps, desired.InPlace)), true)
		orphan := labelled(configMap("orphan", "k=theirs"))
		w.create(configMaps, orphan)
		p := adopting()
		p.SetName(w.parent.Name)
		w.create(catSets, p.Object)
		w.becomes(1, "it is adopted")
		body := []byte(`{"metadata":{"labels":{"cat":"other"}}}`)
		_, err := w.others.Patch(t.Context(), deploy.Ref{Kind: configMaps, Namespace: w.parent.Namespace, Name: "orphan"},
			deploy.PatchRequest{Type: types.MergePatchType, Body: body, FieldManager: "somebody"})
		require.NoError(t, err)
		w.becomes(0, "it is released")
		released := w.child(configMaps, "orphan")
		assert.True(t, isOrphan(released))
		assert.Equal(t, map[string]any{"k": "theirs"}, released.Object["data"])
	})
}
