package desired_test

import (
	"testing"

	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// decorates returns a script that also sets labels and annotations, and the status if it isn't nil.
func decorates(labels, annotations map[string]*string, status any) script {
	return script{also: func(_ desired.Request[desired.Unstructured], response *desired.Response) error {
		response.Labels, response.Annotations, response.Status = labels, annotations, status
		return nil
	}}
}

func TestLabelsAndAnnotations(t *testing.T) {
	t.Parallel()
	yes, no := "yes", "no"
	t.Run("desired 82: they are set on the parent, and nil removes one", func(t *testing.T) {
		t.Parallel()
		labels := map[string]*string{"cat": &yes, "gone": nil, "absent": nil}
		h := drive(t, decorates(labels, map[string]*string{"note": &no}, nil))
		p := parent()
		p.SetLabels(map[string]string{"mine": "a", "gone": "a"})
		h.Apply(p)
		settles(t, h, "in one write", "configured CatSet tom")
		assert.Equal(t, map[string]string{"mine": "a", "cat": "yes"}, h.Get("CatSet tom").GetLabels())
		assert.Equal(t, map[string]string{"note": "no"}, h.Get("CatSet tom").GetAnnotations())
		h.Edit("CatSet tom", func(p *unstructured.Unstructured) { p.SetLabels(map[string]string{"cat": "no", "gone": "b"}) })
		settles(t, h, "what others change is set again", "configured CatSet tom")
		delete(labels, "cat")
		h.Edit("CatSet tom", func(p *unstructured.Unstructured) { p.SetLabels(map[string]string{"cat": "no"}) })
		settles(t, h, "what isn't returned any more stays")
		assert.Equal(t, map[string]string{"cat": "no"}, h.Get("CatSet tom").GetLabels())
	})
	t.Run("desired 82: an invalid one is an error, and children and status are written", func(t *testing.T) {
		t.Parallel()
		bad := "not a label!"
		s := decorates(map[string]*string{"cat": &bad}, nil, map[string]any{"phase": "sad"})
		h := drive(t, s, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent(configMap("a")))
		_, err := h.Reconcile("CatSet tom")
		require.ErrorContains(t, err, "labels and annotations: CatSet test/tom: ")
		assert.Equal(t, "sad", statusOf(h)["phase"])
		h.Exists("ConfigMap a")
	})
}

func TestDecorates(t *testing.T) {
	t.Parallel()
	t.Run("desired 83: the status of a parent with a controller of its own is written as it is", func(t *testing.T) {
		t.Parallel()
		status := map[string]any{"ready": int64(1), "conditions": []any{map[string]any{"type": "Old", "status": "True", "lastProbeTime": "x"}}}
		h := drive(t, decorates(nil, nil, status), desired.Decorates())
		h.Apply(parent())
		settles(t, h, "once", statusWritten)
		assert.Equal(t, status, statusOf(h))
	})
	t.Run("desired 83: without a status of the Syncer it isn't touched", func(t *testing.T) {
		t.Parallel()
		h := drive(t, decorates(nil, nil, nil), desired.Decorates(), desired.Child(configMaps, desired.InPlace))
		h.Apply(parent(configMap("a")))
		h.SetStatus("CatSet tom", map[string]any{"theirs": "1"})
		settles(t, h, "the child only", "created ConfigMap a")
		h.Edit("CatSet tom", func(p *unstructured.Unstructured) {
			p.SetAnnotations(map[string]string{"operkit.dev/pause-execution": "true"})
		})
		settles(t, h, "a pause isn't reported")
		assert.Equal(t, map[string]any{"theirs": "1"}, statusOf(h))
	})
	t.Run("desired 83: nor is one that T can't hold reported there", func(t *testing.T) {
		t.Parallel()
		h := reconciletest.Drive(t, desired.New(catSets, cats{}, desired.Decorates()))
		h.Apply(map[string]any{"apiVersion": catSets.GroupVersion().String(), "kind": "CatSet", "metadata": map[string]any{"name": "tom"}, "spec": map[string]any{"cats": "many"}})
		_, err := h.Reconcile("CatSet tom")
		require.Error(t, err)
		assert.Empty(t, writes(h))
	})
}

func TestWhen(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		opts   []desired.Option
		want   int
	}{
		{"desired 84: by default a change of the status alone doesn't count", nil, 0},
		{"desired 84: When says what counts", []desired.Option{desired.When(filter.ResourceVersion())}, 1},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			synced := 0
			h := drive(t, script{synced: &synced}, append(row.opts, desired.Decorates())...)
			h.Apply(parent())
			h.RunUntilSettled()
			synced = 0
			status := statusOf(h)
			status["theirs"] = "1"
			h.SetStatus("CatSet tom", status)
			h.RunUntilSettled()
			assert.Equal(t, row.want > 0, synced > 0, synced)
		})
	}
}
