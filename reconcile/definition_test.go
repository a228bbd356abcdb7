package reconcile

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	tools = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Tool"}
	saws  = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Saw"}
)

// definition is that of a kind whose objects are in namespaces and have any content.
func definition(kind schema.GroupVersionKind, plural string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": plural + "." + kind.Group},
		"spec": map[string]any{
			"group": kind.Group, "scope": "Namespaced", "names": map[string]any{"plural": plural, "kind": kind.Kind},
			"versions": []any{map[string]any{
				"name": kind.Version, "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}
}

func tool(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.dev/v1", "kind": "Tool", "metadata": map[string]any{"name": name}, "spec": map[string]any{"weight": "1kg"},
	}}
}

// A cluster that serves only what is defined doesn't let a kind be watched before.
func TestComponentThatDefinesItsKind(t *testing.T) {
	t.Parallel()
	for reason, add := range map[string]func(s *Session){
		"deployed the usual way": func(s *Session) { s.Add("c", tool("hammer"), definition(tools, "tools")) },
		"deployed in a way of its own": func(s *Session) {
			s.Use("c", &particular{note: func(string) {}, built: built{func(_ context.Context, _ *Session, c *Component) error {
				c.Add("hammer", tool("hammer"))
				c.Add("definition", definition(tools, "tools"))
				return nil
			}}})
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				memory, err := dryrun.New(dryrun.Objects(definition(widgets, "widgets"), widget()), dryrun.Namespaces("shop"))
				require.NoError(t, err)
				w := &world{recorder: &recorder{memory: memory, shown: newShown(t)}, t: t, clock: &clock{now: time.Now()}, logs: &testlog.Text{}}
				_, start := w.engine(adding(add), OwnAnywhere())
				t.Cleanup(start())
				assert.Equal(t, []string{
					patchWidget, writeStatus, "apply CustomResourceDefinition tools.example.dev", "apply Tool shop/hammer", writeStatus,
				}, w.settle())
				assert.Equal(t, "Stable/Stable", w.verdict())
				w.delete(deploy.Ref{Kind: tools, Namespace: "shop", Name: "hammer"})
				assert.Equal(t, []string{"apply Tool shop/hammer"}, w.settle(), "it is watched from then on")
				time.Sleep(time.Hour)
				assert.Empty(t, w.settle())
			})
		})
	}
	t.Run("the kind is watched once it is applied", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		watcher := &ownRecorder{failFor: map[schema.GroupVersionKind]error{tools: &deploy.KindUnknownError{Kind: tools}}}
		w.refuse = func(call string) error {
			if call == "apply Tool shop/hammer" {
				watcher.mu.Lock()
				defer watcher.mu.Unlock()
				watcher.failFor = nil
			}
			return nil
		}
		w.calm(w.reconciler(adding(func(s *Session) { s.Add("c", tool("hammer"), definition(tools, "tools")) }), OwnAnywhere(), WithWatcher(watcher)))
		assert.Equal(t, []string{"Widget owns Tool", "Widget owns CustomResourceDefinition", "Widget owns Tool"}, watcher.made())
	})
	t.Run("a definition of another kind doesn't help", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		watcher := &ownRecorder{failFor: map[schema.GroupVersionKind]error{tools: &deploy.KindUnknownError{Kind: tools}}}
		r := w.reconciler(adding(func(s *Session) { s.Add("c", tool("hammer"), definition(saws, "saws")) }), OwnAnywhere(), WithWatcher(watcher))
		calls, _, err := w.once(r)
		var unknown *deploy.KindUnknownError
		require.ErrorAs(t, err, &unknown)
		assert.Equal(t, []string{patchWidget, writeStatus}, calls)
	})
}
