package selection_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/internal/selection"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func pod(tier, phase string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "web", "labels": map[string]any{"tier": tier}},
		"status": map[string]any{"phase": phase},
	}}
}

var (
	web     = labels.SelectorFromSet(labels.Set{"tier": "web"})
	running = fields.OneTermEqualSelector("status.phase", "Running")
)

func TestSelection(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		chosen  selection.Selection
		text    string
		all     bool
		matches map[[2]string]bool
	}{
		"no selector": {selection.Selection{}, "", true, map[[2]string]bool{{"db", "Failed"}: true}},
		"selectors of all objects": {selection.Selection{Labels: labels.Everything(), Fields: fields.Everything()}, "", true,
			map[[2]string]bool{{"db", "Failed"}: true}},
		"by label": {selection.Selection{Labels: web}, "tier=web", false, map[[2]string]bool{{"web", "Failed"}: true, {"db", "Failed"}: false}},
		"by field": {selection.Selection{Fields: running}, "status.phase=Running", false,
			map[[2]string]bool{{"db", "Running"}: true, {"db", "Failed"}: false}},
		"by both": {selection.Selection{Labels: web, Fields: running}, "tier=web and status.phase=Running", false,
			map[[2]string]bool{{"web", "Running"}: true, {"db", "Running"}: false, {"web", "Failed"}: false}},
		"with another selector": {selection.Selection{Labels: web}.With(labels.SelectorFromSet(labels.Set{"app": "a"})), "app=a,tier=web", false,
			map[[2]string]bool{{"web", "Running"}: false}},
		"with no other selector":     {selection.Selection{Labels: web}.With(nil), "tier=web", false, nil},
		"another selector alone":     {selection.Selection{}.With(web), "tier=web", false, nil},
		"with a selector of nothing": {selection.Selection{Labels: web}.With(labels.Nothing()), "", false, map[[2]string]bool{{"web", "Running"}: false}},
	} {
		assert.Equal(t, row.text, row.chosen.String(), reason)
		assert.Equal(t, row.all, row.chosen.All(), reason)
		for obj, want := range row.matches {
			assert.Equal(t, want, row.chosen.Matches(pod(obj[0], obj[1])), "%s: %s", reason, obj)
		}
	}
}

func TestSelectionOfNothing(t *testing.T) {
	t.Parallel()
	kind := schema.GroupKind{Kind: "Pod"}
	require.NoError(t, selection.Selection{Labels: web, Fields: running}.Check(kind))
	require.NoError(t, selection.Selection{}.Check(kind))
	for _, chosen := range []selection.Selection{{Labels: labels.Nothing()}, {Fields: fields.Nothing()}} {
		assert.EqualError(t, chosen.Check(kind), "selected Pod: the selector matches no object: use another selector, or nil for all objects")
	}
}

func TestCreatable(t *testing.T) {
	t.Parallel()
	chosen := selection.Selection{Labels: web}
	existing, read := pod("db", ""), pod("db", "")
	existing.SetUID("u")
	read.SetResourceVersion("1")
	for _, obj := range []*unstructured.Unstructured{pod("web", ""), existing, read} {
		assert.NoError(t, chosen.Creatable(deploy.RefOf(obj), obj))
	}
	var invalid *deploy.InvalidManifestError
	require.ErrorAs(t, chosen.Creatable(deploy.RefOf(pod("db", "")), pod("db", "")), &invalid)
}
