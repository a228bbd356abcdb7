package handlers_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestParent(t *testing.T) {
	t.Run("handlers 71: it is read, in its own scope, or is gone", func(t *testing.T) {
		var got []string
		c := handlers.New[Claim](claims)
		parent := func(ctx context.Context, r *handlers.Request[Claim]) error {
			found, err := r.Parent(ctx)
			if found == nil {
				got = append(got, "gone")
			} else {
				got = append(got, found.GetKind()+" "+found.GetName())
			}
			return err
		}
		c.On(handlers.Create, "map", parent, handlers.OwnedBy(configMaps.GroupKind()))
		c.On(handlers.Create, "node", parent, handlers.OwnedBy(schema.GroupKind{Kind: "Node"}))
		c.On(handlers.Create, "secret", parent, handlers.OwnedBy(schema.GroupKind{Kind: "Secret"}))
		c.On(handlers.Create, "pod", parent, handlers.OwnedBy(schema.GroupKind{Kind: "Pod"}))
		h := drive(t, c)
		h.Apply(configMap("web", "small"), "{apiVersion: v1, kind: Node, metadata: {name: node-1}}")
		claim := object(t, small)
		claim.SetOwnerReferences([]metav1.OwnerReference{
			{APIVersion: "v1", Kind: "ConfigMap", Name: "web", UID: h.Get("ConfigMap web").GetUID()},
			{APIVersion: "v1", Kind: "Node", Name: "node-1", UID: "1"},
			{APIVersion: "v1", Kind: "Secret", Name: "none", UID: "2"},
		})
		h.Apply(claim)
		h.RunUntilSettled()
		assert.Equal(t, []string{"ConfigMap web", "Node node-1", "gone"}, got)
	})
	t.Run("handlers 71: without the option it is an error", func(t *testing.T) {
		c := handlers.New[Claim](claims)
		c.On(handlers.Create, "map", func(ctx context.Context, r *handlers.Request[Claim]) error {
			_, err := r.Parent(ctx)
			assert.ErrorContains(t, err, "the handler has no option OwnedBy")
			return nil
		})
		c.On(handlers.Create, "none", nil, handlers.OwnedBy(schema.GroupKind{}))
		_, err := c.Reconciler(t.Context(), newEnv(t))
		assert.ErrorContains(t, err, "owned by: no kind is named")
	})
}

func TestRepairAtOnce(t *testing.T) {
	t.Run("handlers 110: a handler of events repairs what a parent owns, and writes nothing otherwise", func(t *testing.T) {
		wanted := func(name string) *unstructured.Unstructured {
			return object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+"}, data: {a: b}}")
		}
		c := handlers.New[Claim](claims)
		c.On(handlers.Create, "apply", func(ctx context.Context, r *handlers.Request[Claim]) error {
			return r.Apply(ctx, wanted(r.Object.Name))
		})
		children := handlers.New[ConfigMap](configMaps)
		children.Seen("repair", func(ctx context.Context, r *handlers.Request[ConfigMap]) error {
			parent, err := r.Parent(ctx)
			if err != nil || parent == nil {
				return err
			}
			manager, err := r.Manager()
			if err != nil {
				return err
			}
			if manager, err = manager.With(deploy.OwnedBy(parent)); err != nil {
				return err
			}
			_, err = manager.Apply(ctx, []*unstructured.Unstructured{wanted(parent.GetName())})
			return err
		}, handlers.OwnedBy(claims.GroupKind()))
		h := reconciletest.Drive(t, c, reconciletest.AlsoDrive(children))
		h.Apply(small)
		h.RunUntilSettled()
		h.Writes(2) // the ConfigMap, and the record
		h.Edit("ConfigMap small", func(obj *unstructured.Unstructured) { obj.Object["data"] = map[string]any{"a": "c"} })
		h.RunUntilSettled()
		h.Writes(1)
		assert.Equal(t, map[string]any{"a": "b"}, h.Get("ConfigMap small").Object["data"])
		h.Delete("ConfigMap small")
		h.RunUntilSettled()
		h.Writes(1)
		assert.Equal(t, h.Get("Claim small").GetUID(), h.Get("ConfigMap small").GetOwnerReferences()[0].UID)
	})
}

// A handler gets the object that owns its object.
func ExampleOwnedBy() {
	c := handlers.New[ConfigMap](configMaps)
	c.On(handlers.Create, "parent", func(ctx context.Context, r *handlers.Request[ConfigMap]) error {
		parent, err := r.Parent(ctx)
		if err != nil || parent == nil {
			return err
		}
		fmt.Println(r.Object.Name, "belongs to", parent.GetName())
		return nil
	}, handlers.OwnedBy(claims.GroupKind()))
	h := reconciletest.Drive(console{}, c)
	h.Apply(small)
	child := &handlers.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	child.SetName("web")
	child.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "example.dev/v1", Kind: "Claim", Name: "small", UID: h.Get("Claim small").GetUID()}})
	h.Apply(child)
	h.RunUntilSettled()
	// Output: web belongs to small
}
