package deploy_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - {name: v0, served: false, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`

// Namespaces and definitions come first; what needs them once it is served.
func TestStages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cluster := newCluster(t)
		start := time.Now()
		cluster.unserved = func(kind string) bool { return kind == "Widget" && time.Since(start) < 3*time.Second }
		results, err := must(deploy.NewManager(cluster)).Apply(t.Context(), objects(
			widget(map[string]any{}), settings(t, "{}"),
			object(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}"), object(t, widgets),
		))
		require.NoError(t, err)
		for i, name := range []string{"Widget shop/w", settingsName, "Namespace shop", "CustomResourceDefinition widgets.example.com"} {
			assert.Equal(t, name, results[i].Ref.String(), "the results stand in the order of the objects")
			assert.Equal(t, deploy.Created, results[i].Action)
		}
		calls := cluster.take()
		assert.ElementsMatch(t, []string{"apply Namespace shop", "apply CustomResourceDefinition widgets.example.com"}, calls[:2])
		assert.Less(t, time.Since(start), 5*time.Second)
	})
}

func TestKindThatIsNeverServed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cluster := newCluster(t)
		cluster.unserved = func(kind string) bool { return kind == "Widget" }
		results, err := must(deploy.NewManager(cluster)).Apply(t.Context(), objects(widget(map[string]any{}), object(t, widgets), settings(t, "{}")))
		var unknown *deploy.KindUnknownError
		require.ErrorAs(t, err, &unknown)
		assert.Equal(t, []deploy.Action{deploy.Failed, deploy.Created, deploy.Created}, actions(results), "the others are applied")
	})
}

func TestConcurrency(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options []deploy.Option
		most    int64
	}{
		"eight at once":         {nil, deploy.DefaultConcurrency},
		"as many as is asked":   {[]deploy.Option{deploy.Concurrency(3)}, 3},
		"none is one":           {[]deploy.Option{deploy.Concurrency(0)}, 1},
		"one to stop after one": {[]deploy.Option{deploy.StopOnFailure()}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster(t)
				var now, most atomic.Int64
				cluster.before = func(string) error {
					most.Store(max(most.Load(), now.Add(1)))
					time.Sleep(time.Second)
					now.Add(-1)
					return nil
				}
				var set []*unstructured.Unstructured
				for i := range 24 {
					set = append(set, named(settings(t, "{}"), "s"+strings.Repeat("x", i)))
				}
				start := time.Now()
				results, err := must(deploy.NewManager(cluster, test.options...)).Apply(t.Context(), set)
				require.NoError(t, err)
				assert.Len(t, results, 24)
				assert.Equal(t, test.most, most.Load())
				assert.Equal(t, time.Duration(24/test.most)*time.Second, time.Since(start))
			})
		})
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	ready := deploy.WaitReady(func(obj *unstructured.Unstructured) bool {
		return obj.GetAnnotations()["ready"] == "yes"
	})
	t.Run("it is waited for", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t)
			time.AfterFunc(time.Minute, func() {
				cluster.edit(t, settingsRef, `{"metadata":{"annotations":{"ready":"yes"}}}`)
			})
			start := time.Now()
			results, err := must(deploy.NewManager(cluster)).Apply(t.Context(), objects(settings(t, "{}")), ready)
			require.NoError(t, err)
			assert.Equal(t, deploy.Created, results[0].Action)
			assert.Equal(t, "yes", results[0].Object.GetAnnotations()["ready"], "the result is the object that was ready")
			assert.InDelta(t, time.Minute, time.Since(start), float64(time.Second))
		})
	})
	t.Run("not for ever, and what it was about is told", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			results, err := must(deploy.NewManager(newCluster(t))).Apply(t.Context(), objects(settings(t, "{}")), ready)
			var late *deploy.TimeoutError
			require.ErrorAs(t, err, &late)
			require.EqualError(t, err, "ConfigMap shop/settings: not in time: it was created and isn't ready: context deadline exceeded")
			assert.Equal(t, deploy.Failed, results[0].Action)
			assert.Equal(t, deploy.DefaultWait, time.Since(start))
		})
	})
	t.Run("one that isn't says nothing about the others, and all have the same time", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			never, soon := settings(t, "{}"), named(settings(t, "{}"), "soon")
			soon.SetAnnotations(map[string]string{"ready": "yes"})
			start := time.Now()
			results, err := must(deploy.NewManager(newCluster(t))).Apply(t.Context(), objects(never, named(never, "nor"), soon), ready)
			require.Error(t, err)
			assert.Equal(t, []deploy.Action{deploy.Failed, deploy.Failed, deploy.Created}, actions(results))
			assert.Equal(t, deploy.DefaultWait, time.Since(start))
		})
	})
	t.Run("a cluster that doesn't answer for a moment is waited for, an object that can't be read isn't", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			failing := &atomic.Bool{}
			up := settings(t, "{}")
			up.SetAnnotations(map[string]string{"ready": "yes"})
			m := must(deploy.NewManager(interruptedCluster{newCluster(t), failing, &deploy.UnavailableError{Err: errNo}}))
			var once sync.Once
			interrupt := deploy.OnResult(func(deploy.Result) {
				once.Do(func() {
					failing.Store(true)
					time.AfterFunc(time.Second, func() { failing.Store(false) })
				})
			})
			results, err := m.Apply(t.Context(), objects(up), ready, interrupt)
			require.NoError(t, err)
			assert.Equal(t, deploy.Created, results[0].Action)

			forbidden := &deploy.ForbiddenError{Verb: "get", Err: errNo}
			m = must(deploy.NewManager(interruptedCluster{newCluster(t), failing, forbidden}))
			start := time.Now()
			results, err = m.Apply(t.Context(), objects(up), ready, deploy.OnResult(func(deploy.Result) { failing.Store(true) }))
			require.ErrorIs(t, err, forbidden)
			assert.Equal(t, deploy.Failed, results[0].Action)
			assert.Less(t, time.Since(start), deploy.DefaultWait)
		})
	})
	t.Run("who is interrupted isn't too late", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		results, err := must(deploy.NewManager(newCluster(t))).Apply(ctx, objects(settings(t, "{}")), ready, deploy.OnResult(func(deploy.Result) { cancel() }))
		require.ErrorIs(t, err, context.Canceled)
		assert.ErrorContains(t, results[0].Err, "ConfigMap shop/settings: it was created, and the wait for it was interrupted: context canceled")
	})
	t.Run("a deadline for a reason of one's own is one", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errNo)
			defer cancel()
			_, err := must(deploy.NewManager(newCluster(t))).Apply(ctx, objects(settings(t, "{}")), ready)
			require.EqualError(t, err, "ConfigMap shop/settings: not in time: it was created and isn't ready: no")
		})
	})
	t.Run("who stops on a failure stops before what may need it", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t)
			namespace := object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")
			results, err := must(deploy.NewManager(cluster)).Apply(t.Context(), objects(settings(t, "{}"), namespace), ready, deploy.StopOnFailure())
			require.EqualError(t, err, "Namespace shop: not in time: it was created and isn't ready: context deadline exceeded")
			assert.Equal(t, []deploy.Action{deploy.Failed}, actions(results))
			assert.Equal(t, []string{"apply Namespace shop"}, cluster.take())
		})
	})
	t.Run("not in a dry run", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, deploy.Created, apply(t, must(deploy.NewManager(newCluster(t))), settings(t, "{}"), ready, deploy.DryRun()).Action)
	})
}

func actions(results deploy.Results) []deploy.Action {
	var out []deploy.Action
	for _, result := range results {
		out = append(out, result.Action)
	}
	return out
}

func TestOnResult(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cluster := newCluster(t)
		time.AfterFunc(time.Minute, func() {
			cluster.edit(t, settingsRef, `{"metadata":{"annotations":{"ready":"yes"}}}`)
		})
		ready := deploy.WaitReady(func(obj *unstructured.Unstructured) bool { return obj.GetAnnotations()["ready"] == "yes" })
		var told []string
		start := time.Now()
		report := deploy.OnResult(func(result deploy.Result) {
			told = append(told, result.Ref.Name+" "+string(result.Action)+" "+result.Object.GetAnnotations()["ready"]+" "+
				time.Since(start).Truncate(time.Minute).String())
		})
		nameless := settings(t, "{}")
		nameless.SetNamespace("")
		_, err := must(deploy.NewManager(cluster, deploy.DefaultNamespace("shop"))).Apply(t.Context(), objects(nameless), ready, report)
		require.NoError(t, err)
		assert.Equal(t, []string{"settings created  0s", "settings created yes 1m0s"}, told)
	})
}
