package reconciletest

import (
	"context"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

// declaring is a shop with Sources.
type declaring struct {
	*shop
	sources source.Sources
}

func (d *declaring) Sources() source.Sources { return d.sources }

// doors is a shop that has nothing but a door.
func doors(sources source.Sources) *declaring {
	return &declaring{&shop{func(_ context.Context, s *reconcile.Session) error {
		s.Add("door", settings("door", nil))
		return nil
	}}, sources}
}

// reasons say why each reconcile of a run was made.
func reasons(h *Harness) (all []string) {
	h.t.Helper()
	before := len(h.Runs())
	h.RunUntilSettled()
	for _, run := range h.Runs()[before:] {
		all = append(all, run.Triggers.String())
	}
	return all
}

func label(value string) func(*unstructured.Unstructured) {
	return func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"a": value}) }
}

func TestTriggers(t *testing.T) {
	t.Parallel()
	h := New(t, doors(source.Sources{}))
	h.Apply(tea)
	assert.Equal(t, []string{"changed", "periodic"}, reasons(h), "harness 3: its own write of the child is no news")
	h.Edit("Shop tea", label("b"))
	h.Edit("ConfigMap door", label("b"))
	assert.Equal(t, []string{"child,changed", "periodic"}, reasons(h), "what comes at once is one reconcile")
	h.Restart()
	assert.Equal(t, []string{"listed", "child", "periodic"}, reasons(h), "the children that a reconcile told of exist")
	h.FailOnce("door", Deploy, assert.AnError)
	h.Edit("Shop tea", label("c"))
	assert.Equal(t, []string{"changed", "retry", "periodic"}, reasons(h))
}

func TestDeclaredWhen(t *testing.T) {
	t.Parallel()
	spec := filter.Or(filter.Lifecycle(), filter.Generation())
	h := New(t, doors(source.Sources{When: spec, Owned: []source.Owned{{Kind: configMaps, When: filter.Deletion()}}}))
	h.Apply(tea)
	assert.Equal(t, []string{"changed", "periodic"}, reasons(h), "a child that comes doesn't count")
	h.Edit("Shop tea", label("b"))
	h.Edit("ConfigMap door", label("b"))
	assert.Equal(t, []string{"periodic"}, reasons(h), "watch 28: nor does a label")
	h.Delete("ConfigMap door")
	assert.Equal(t, []string{"child", "periodic"}, reasons(h), "watch mistake 23: its end does")
	h.Restart()
	assert.Equal(t, []string{"listed", "periodic"}, reasons(h), "what is declared and exists concerns nobody at the start")
	h.Edit("Shop tea", func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{"operkit.dev/reconcile-at": "now"})
	})
	assert.Equal(t, []string{"changed,forced", "periodic"}, reasons(h), "a forced reconcile does")

	h = New(t, doors(source.Sources{When: filter.Generation()}))
	h.Apply(tea)
	assert.Empty(t, reasons(h), "not even a creation")

	h = New(t, doors(source.Sources{When: filter.Generation(), Owned: []source.Owned{{Kind: configMaps}}}))
	h.Apply(tea)
	h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.Object["spec"] = map[string]any{"sign": "closed"} })
	h.Bring("Shop tea")
	assert.Equal(t, []string{"external,changed", "periodic"}, reasons(h), "the second event counts")
	h.Restart()
	assert.Empty(t, reasons(h), "nor what exists at a start: neither the shop nor its door")
}

func TestForced(t *testing.T) {
	t.Parallel()
	h := New(t, &shop{func(context.Context, *reconcile.Session) error { return request.Permanent(assert.AnError) }}, Manager(deploy.KeyDomain("example.dev")))
	h.Apply(tea)
	h.RunUntilSettled()
	for _, at := range []string{"now", "then"} {
		h.Edit("Shop tea", func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{"example.dev/reconcile-at": at})
		})
		assert.Equal(t, "changed,forced", reasons(h)[0])
	}
	assert.Zero(t, h.Runs()[len(h.Runs())-1].Attempt)
}

func TestDeclaredMapped(t *testing.T) {
	t.Parallel()
	towns := schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Town"}
	keys := func(event deploy.Event) []deploy.Ref {
		return []deploy.Ref{{Namespace: event.New.GetNamespace(), Name: event.New.GetLabels()["a"]}}
	}
	h := New(t, doors(source.Sources{Mapped: []source.Mapped{{Kind: towns, Keys: keys}, {Kind: configMaps, When: filter.Never(), Keys: keys}}}))
	h.Apply(tea)
	reasons(h)
	h.Apply(`{apiVersion: example.dev/v1, kind: Town, metadata: {name: york, labels: {a: tea}}}`)
	assert.Equal(t, []string{"mapped", "periodic"}, reasons(h))
	h.Edit("Town york", label("nobody"))
	assert.Equal(t, []string{"mapped", "periodic"}, reasons(h)[:2])
	assert.Equal(t, "Shop test/nobody", h.Runs()[len(h.Runs())-2].Key.String(), "as the function says")
}

func TestBring(t *testing.T) {
	t.Parallel()
	h := New(t, doors(source.Sources{When: filter.Created(), External: []source.External{source.Channel(make(chan deploy.Ref))}}))
	h.Apply(tea)
	reasons(h)
	h.Bring("Shop tea")
	assert.Equal(t, []string{"external", "periodic"}, reasons(h))
	t.Run("harness 19: a resource that is brought to reconcile in the middle of its reconcile is reconciled once more", func(t *testing.T) {
		h.Delete("ConfigMap door")
		h.BeforeRequest(1, func() { h.Bring("Shop tea") })
		assert.Equal(t, []string{"child", "external", "periodic"}, reasons(h))
	})
	assert.Equal(t, "reconciletest: bring ConfigMap door: no controller of the test is for that kind", try(t, func(t *trial) {
		h := New(t, doors(source.Sources{}))
		h.Apply(tea)
		h.RunUntilSettled()
		h.Bring("ConfigMap door")
	}))
	assert.Contains(t, try(t, func(t *trial) { New(t, doors(source.Sources{External: []source.External{nil}})) }), "external[0]: nil source")
}
