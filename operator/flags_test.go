package operator_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/source"
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
	namespaceKind = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	secretKind    = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
)

// team is a namespace beside that of the world, which goes with the test.
func (w *world) team(name, labels string) string {
	w.t.Helper()
	name = w.Namespace + "-" + name
	namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}
	_, err := w.api.Port().Create(w.t.Context(), namespace, deploy.CreateOptions{FieldManager: "somebody"})
	require.NoError(w.t, err)
	w.t.Cleanup(func() {
		ref := deploy.Ref{Kind: namespaceKind, Name: name}
		assert.NoError(w.t, w.api.Port().Delete(context.WithoutCancel(w.t.Context()), ref, deploy.DeleteOptions{}))
	})
	w.change(deploy.Ref{Kind: namespaceKind, Name: name}, `{"metadata":{"labels":`+labels+`}}`)
	return name
}

func (w *world) change(ref deploy.Ref, body string) {
	w.t.Helper()
	_, err := w.api.Port().Patch(w.t.Context(), ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(body), FieldManager: "somebody"})
	require.NoError(w.t, err)
}

// served tells whether the operator has made the ConfigMap of the gadget in a namespace.
func (w *world) served(namespace string) bool {
	w.t.Helper()
	obj, err := w.api.View().Get(w.t.Context(), deploy.Ref{Kind: configMaps, Namespace: namespace, Name: "one"})
	require.NoError(w.t, err)
	return obj != nil
}

func TestNamespacesAreFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	a, b, x := w.team("a", `{"tier":"prod"}`), w.team("b", `{}`), w.team("x", `{"tier":"prod"}`)
	for _, namespace := range []string{a, b, x} {
		w.create("{apiVersion: operator.operkit.dev/v1, kind: Gadget, metadata: {name: one, namespace: " + namespace + "}}")
	}
	rights := append([]rbacv1.PolicyRule{own, creating}, rightsIn(t, "## Namespaces\n")...)
	run := func(kind schema.GroupVersionKind, name string, rights ...rbacv1.PolicyRule) *running {
		op := operator.New(name)
		op.Control(settings{kind}, reconcile.NameObjects())
		return w.run(name, op, w.User(t, name, envtest.ClusterWide(rights...)),
			"--namespace", w.Namespace+"-*", "-n", "!"+x, "--watch.namespace-selector", "tier=prod")
	}
	r := run(gadgets, "gadget-operator", append(rights, patchRights(t)...)...)
	w.eventually("watch 5, demand 19: what pattern and labels let in is served", func() bool { return w.served(a) })
	time.Sleep(500 * time.Millisecond) // in which others would be
	assert.False(t, w.served(b), "demand 19: what has no such label isn't")
	assert.False(t, w.served(x), "demand 19: nor what is kept out")

	w.change(deploy.Ref{Kind: namespaceKind, Name: b}, `{"metadata":{"labels":{"tier":"prod"}}}`)
	w.eventually("demand 19: a namespace that gets the label is served, without a restart", func() bool { return w.served(b) })
	w.create("{apiVersion: operkit.dev/v1, kind: TemporaryPatch, metadata: {name: a, namespace: " + b + `}, spec: {
		apiVersion: operator.operkit.dev/v1, kind: Gadget, name: one, patchType: strategic, patch: {store: {settings: {data: {mode: new}}}}}}`)
	w.eventually("temporary patches are served there too", func() bool {
		obj, err := w.api.Port().Get(t.Context(), deploy.Ref{Kind: configMaps, Namespace: b, Name: "one"})
		require.NoError(t, err)
		mode, _, _ := unstructured.NestedString(obj.Object, "data", "mode")
		return mode == "new"
	})

	w.change(deploy.Ref{Kind: namespaceKind, Name: b}, `{"metadata":{"labels":{"tier":null}}}`)
	w.eventually("demand 19: one that loses it is left alone, once that is known", func() bool {
		mark := w.Mark(t)
		err := w.api.Port().Delete(t.Context(), deploy.Ref{Kind: configMaps, Namespace: b, Name: "one"}, deploy.DeleteOptions{})
		var gone *deploy.NotFoundError
		require.True(t, err == nil || errors.As(err, &gone), "%v", err)
		time.Sleep(time.Second)
		return !w.served(b) && len(w.CallsSince(t, mark, r.user).In(b)) == 0
	})
	mark := w.Mark(t)
	w.change(deploy.Ref{Kind: gadgets, Namespace: b, Name: "one"}, `{"metadata":{"labels":{"now":"changed"}}}`)
	time.Sleep(time.Second)
	assert.False(t, w.served(b), "demand 19: one that loses it is left alone")
	assert.Empty(t, w.CallsSince(t, mark, r.user).In(b))

	w.change(deploy.Ref{Kind: namespaceKind, Name: b}, `{"metadata":{"labels":{"tier":"prod"}}}`)
	w.eventually("demand 19: until it comes back", func() bool { return w.served(b) })
	assert.Empty(t, w.Calls(t, r.user).Forbidden(), "the rights that the README names suffice")
	assert.Empty(t, w.Calls(t, r.user).In(x))
	assert.Empty(t, r.log.lines("level=ERROR"))

	other := run(gears, "gear-operator", rights...)
	w.eventually("it says which rights patches take", func() bool { return len(other.log.lines(unavailable)) > 0 })
	assert.Contains(t, other.log.lines(unavailable)[0], "may not get/list/watch/patch temporarypatches.operkit.dev, patch temporarypatches.operkit.dev/status: grant",
		"in all namespaces, since it isn't known which there will be")
}

// counted counts how often its resources are reconciled.
type counted struct {
	settings
	setups *atomic.Int64
	// secrets has each have a Secret too.
	secrets bool
}

func (c counted) Setup(ctx context.Context, s *reconcile.Session) error {
	c.setups.Add(1)
	if c.secrets {
		s.Add("keys").Add("key", map[string]any{
			"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": s.Name()}, "data": map[string]any{"key": "b3BlbiBzZXNhbWU="},
		})
	}
	return c.settings.Setup(ctx, s)
}

func TestMetadataOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	var setups atomic.Int64
	op := operator.New("gadget-operator", operator.Watches(cluster.MetadataOnly(secretKind.GroupKind())))
	op.Control(counted{settings{gadgets}, &setups, true})
	secrets := rbacv1.PolicyRule{Verbs: []string{"create", "get", "list", "watch", "patch"}, APIGroups: []string{""}, Resources: []string{"secrets"}}
	r := w.run("gadget-operator", op, w.replica("operator", secrets), "--namespace", w.Namespace, "--watch.period", "300ms")
	w.resource(gadgets, "one")
	w.eventually("it works", func() bool { return w.mode("one") == "old" })
	w.eventually("it is settled", func() bool {
		mark := w.Mark(t)
		before := setups.Load()
		w.eventually("watch 13: it is reconciled although nothing happens", func() bool { return setups.Load() > before+5 })
		return len(w.CallsSince(t, mark, r.user).Filter(func(c audit.Call) bool { return !c.IsWatch() })) == 0
	})
	calls := w.Calls(t, r.user).Of("secrets")
	assert.Empty(t, calls.With("get"), "a Secret is never read whole")
	assert.Len(t, calls.Writes(), 1)

	ref := w.ref(secretKind, "one")
	w.change(ref, `{"data":{"key":"b3RoZXI="}}`)
	w.eventually("what another changes in it is put back all the same", func() bool {
		key, _, err := unstructured.NestedString(w.get(secretKind, "one").Object, "data", "key")
		return err == nil && key == "b3BlbiBzZXNhbWU="
	})
}

func TestReconcilePeriod(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions))
	for _, row := range []struct {
		reason, period string
		kind           schema.GroupVersionKind
		often          bool
	}{
		{"watch 13, 16: it comes sooner than what the controller asks for", "0hr0.3s", gadgets, true},
		{"watch 13: none is none", "0", gears, false},
	} {
		t.Run(row.reason, func(t *testing.T) {
			var setups atomic.Int64
			name := strings.ToLower(row.kind.Kind) + "-operator"
			op := operator.New(name)
			op.Control(counted{settings{row.kind}, &setups, false}, reconcile.Recheck(time.Second), reconcile.Period(time.Hour))
			r := w.run(name, op, w.replica(name), "--namespace", w.Namespace, "--watch.period", row.period)
			defer r.stop()
			w.resource(row.kind, name)
			w.eventually("it is served", func() bool { return w.mode(name) == "old" })
			time.Sleep(2 * time.Second) // longer than what isn't complete waits
			before := setups.Load()
			time.Sleep(2 * time.Second)
			assert.Equal(t, row.often, setups.Load() > before)
		})
	}
}

// choosy has a filter of its own.
type choosy struct{ counted }

func (choosy) Sources() source.Sources {
	return source.Sources{When: filter.Or(filter.Lifecycle(), filter.LabelsChanged())}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions))
	var setups atomic.Int64
	plain := counted{settings{gadgets}, &setups, false}
	for i, row := range []struct {
		reason, filter string
		controller     reconcile.Controller
		// what counts of a label, an annotation of the platform, one of a user, the spec
		label, platform, user, spec bool
	}{
		{"watch 31: without one all counts but the status", "", plain, true, true, true, true},
		{"watch 31: default", "default", plain, false, false, false, true},
		{"watch 31: annotation", "annotation", plain, false, true, true, true},
		{"watch 31: user-annotation", "user-annotation", plain, false, false, true, true},
		{"watch 31: a controller has the last word", "annotation", choosy{plain}, true, false, false, false},
	} {
		t.Run(row.reason, func(t *testing.T) {
			name := "operator-" + string(rune('a'+i))
			op := operator.New(name)
			op.Control(row.controller)
			r := w.run(name, op, w.replica(name), "--namespace", w.Namespace, "--watch.filter", row.filter)
			defer r.stop()
			w.resource(gadgets, name)
			defer w.delete(gadgets, name)
			count := func() int64 {
				for {
					seen := setups.Load()
					if time.Sleep(300 * time.Millisecond); setups.Load() == seen {
						return seen
					}
				}
			}
			w.eventually("it is served", func() bool { return w.mode(name) == "old" })
			for _, change := range []struct {
				body   string
				counts bool
			}{
				{`{"metadata":{"labels":{"a":"b"}}}`, row.label},
				{`{"metadata":{"annotations":{"deployment.kubernetes.io/a":"b"}}}`, row.platform},
				{`{"metadata":{"annotations":{"example.dev/a":"b"}}}`, row.user},
				{`{"spec":{"of":"nothing"}}`, row.spec},
				{`{"metadata":{"annotations":{"operkit.dev/reconcile-at":"now"}}}`, true},
			} {
				before := count()
				w.change(w.ref(gadgets, name), change.body)
				if change.counts {
					w.eventually("it counts: "+change.body, func() bool { return setups.Load() > before })
				}
				assert.Equal(t, change.counts, count() > before, change.body)
			}
		})
	}
}
