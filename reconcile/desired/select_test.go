package desired_test

import (
	"testing"

	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// chosen selects the parents with the label chosen.
type chosen struct{ script }

func (chosen) Selects(parent *desired.Unstructured) bool {
	return parent.GetLabels()["chosen"] == "true"
}

// chosenTeardown selects as chosen does, and finalizes: it keeps the ConfigMap b.
type chosenTeardown struct{ teardown }

func (chosenTeardown) Selects(parent *desired.Unstructured) bool { return chosen{}.Selects(parent) }

// choose sets or removes the label chosen.
func choose(h *reconciletest.Harness, is bool) {
	h.Edit("CatSet tom", func(p *unstructured.Unstructured) {
		p.SetLabels(map[string]string{"other": "true"})
		if is {
			p.SetLabels(map[string]string{"chosen": "true"})
		}
	})
}

func TestSelects(t *testing.T) {
	t.Parallel()
	child := desired.Child(configMaps, desired.InPlace)
	created := []string{"created ConfigMap a", "created ConfigMap b", statusWritten}
	t.Run("desired 81: others aren't changed, not even to report a pause", func(t *testing.T) {
		t.Parallel()
		synced := 0
		h := drive(t, chosen{script{synced: &synced}}, child)
		h.Apply(parent(configMap("a"), configMap("b")))
		settles(t, h, "it isn't selected")
		h.Edit("CatSet tom", func(p *unstructured.Unstructured) {
			p.SetAnnotations(map[string]string{"operkit.dev/pause-execution": "true"})
		})
		settles(t, h, "nor is it when it is paused")
		assert.Zero(t, synced)
		h.Edit("CatSet tom", func(p *unstructured.Unstructured) { p.SetAnnotations(nil) })
		choose(h, true)
		settles(t, h, "now it is selected", created...)
	})
	t.Run("desired 81: without Finalize, what a parent has stays when it isn't selected any more", func(t *testing.T) {
		t.Parallel()
		h := drive(t, chosen{}, child)
		h.Apply(parent(configMap("a"), configMap("b")))
		choose(h, true)
		settles(t, h, "it is selected", created...)
		choose(h, false)
		settles(t, h, "it isn't any more")
		h.Delete("ConfigMap a")
		settles(t, h, "its children are let alone")
		choose(h, true)
		settles(t, h, "it is again", "created ConfigMap a")
	})
	t.Run("desired 81: with Finalize it is finalized, and then let alone", func(t *testing.T) {
		t.Parallel()
		s := chosenTeardown{teardown{script{}, func(r desired.Request[desired.Unstructured]) (kept []any) {
			if b := r.Children.Get(configMaps, "b"); b != nil {
				kept = append(kept, b)
			}
			return kept
		}}}
		h := drive(t, s, child)
		h.Apply(parent(configMap("a"), configMap("b")))
		settles(t, h, "without a finalizer for one that isn't selected")
		choose(h, true)
		settles(t, h, "it is selected", append(created, "configured CatSet tom")...)
		choose(h, false)
		settles(t, h, "Finalize keeps b, and isn't Finalized", "deleted ConfigMap a", statusWritten)
		h.Restart()
		settles(t, h, "a restart changes nothing")
		assert.Equal(t, []string{"operkit.dev/operkit"}, h.Get("CatSet tom").GetFinalizers())
		h.Edit("CatSet tom", func(p *unstructured.Unstructured) { p.SetAnnotations(map[string]string{"free": "true"}) })
		settles(t, h, "now it is", "configured CatSet tom")
		assert.Empty(t, h.Get("CatSet tom").GetFinalizers())
		h.Exists("ConfigMap b")
		h.Delete("CatSet tom")
		h.RunUntilSettled()
		h.Gone("CatSet tom")
	})
	t.Run("desired 81: one that is deleted while it is finalized is finalized once", func(t *testing.T) {
		t.Parallel()
		s := chosenTeardown{teardown{script{}, func(desired.Request[desired.Unstructured]) []any { return nil }}}
		h := drive(t, s, child)
		h.Apply(parent(configMap("a")))
		choose(h, true)
		h.RunUntilSettled()
		choose(h, false)
		settles(t, h, "Finalize wants no child", "deleted ConfigMap a", statusWritten)
		h.Delete("CatSet tom")
		settles(t, h, "it still holds the parent", statusWritten) // the deletion is a new generation
		h.Edit("CatSet tom", func(p *unstructured.Unstructured) { p.SetAnnotations(map[string]string{"free": "true"}) })
		h.RunUntilSettled()
		h.Gone("CatSet tom")
	})
}

func TestFuncs(t *testing.T) {
	t.Parallel()
	t.Run("desired 87: a function that isn't there is as a method that isn't there", func(t *testing.T) {
		t.Parallel()
		s := chosenTeardown{teardown{script{}, func(desired.Request[desired.Unstructured]) []any { return nil }}}
		all := desired.Funcs[desired.Unstructured]{OnSync: s.Sync, OnFinalize: s.Finalize, OnSelects: s.Selects}
		some := all
		some.OnFinalize, some.OnSelects = nil, nil
		for _, row := range []struct {
			reason string
			syncer desired.Syncer[desired.Unstructured]
			want   []string
		}{
			{"all of them", all, []string{"operkit.dev/operkit"}},
			{"by a pointer", &all, []string{"operkit.dev/operkit"}},
			{"without Finalize and Selects", some, nil},
		} {
			h := drive(t, row.syncer, desired.Child(configMaps, desired.InPlace))
			h.Apply(parent(configMap("a")))
			h.RunUntilSettled()
			assert.Equal(t, row.want == nil, h.Get("ConfigMap a") != nil, row.reason)
			choose(h, true)
			h.RunUntilSettled()
			assert.Equal(t, row.want, h.Get("CatSet tom").GetFinalizers(), row.reason)
		}
	})
}
