package explore

import (
	"context"
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// marking sets a phase when it sees another size than the sample has. The sound one sets it back.
func marking(sound bool) reconciling {
	return func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
		phase := statusOf(resource, "phase")
		switch {
		case sizeOf(resource) != 2:
			phase = "Resized"
		case phase == "" || sound:
			phase = "Fresh"
		}
		return m.status(ctx, resource, "phase", phase)
	}
}

// chronicling writes what has happened into its status.
func chronicling(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	if statusOf(resource, "lastSize") == fmt.Sprint(sizeOf(resource)) {
		return nil
	}
	edits, _, _ := unstructured.NestedInt64(resource.Object, "status", "edits")
	body := fmt.Sprintf(`{"status":{"lastSize":"%d","edits":%d,"revision":"tea-%[2]d","previous":%q,"conditions":[{"type":"Open","status":"True",
		"reason":"Edited%[2]d","message":"for the time %[2]d","lastTransitionTime":"2030-01-02T03:04:05Z"}]}}`, sizeOf(resource), edits+1, statusOf(resource, "lastSize"))
	return m.patch(ctx, resource, "status", body)
}

func TestUndone(t *testing.T) {
	t.Run("explore 52: a status that stays as with an edit", func(t *testing.T) {
		r := explored(t, manually(then(careful, marking(false))), startDriven, Findings(1))
		require.Len(t, r.findings, 1, stories(r))
		assert.Contains(t, r.findings[0].story(), "an edit that is undone leaves nothing")
		assert.Contains(t, r.findings[0].story(), `.status.phase: "Fresh" -> "Resized"`)
	})
	for name, reconcile := range map[string]reconciling{"the phase is set back": marking(true), "it may have a history": chronicling} {
		t.Run("explore 52: "+name, func(t *testing.T) {
			r := explored(t, manually(then(careful, reconcile)), startDriven, States(150))
			assert.Empty(t, r.findings, stories(r))
			assert.Positive(t, r.covered.edited)
		})
	}
}

func TestHistory(t *testing.T) {
	on, off := map[string]any{"type": "A", "status": "True"}, map[string]any{"type": "A", "status": "False"}
	for _, row := range []struct {
		path          string
		before, after any
		want          bool
	}{
		{".status.edits", int64(1), int64(3), true},
		{".status.replicas", int64(3), int64(1), false},
		{".status.open", true, false, false},
		{`.status.conditions[type="A"].observedGeneration`, "present", "old", true},
		{".status.revision", "tea-1", "tea-3", true},
		{".status.phase", "Fresh", "Resized", false},
		{".status.previousSize", int64(3), int64(2), true},
		{".status.size", nil, int64(2), true},
		{".status.size", int64(2), nil, false},
		{".status.size", int64(2), "2", false},
		{".status.log[3]", nil, on, true},
		{".status.log[3].size", "a", "b", true},
		{".status.shelves[0]", "a", "b", false},
		{`.status.conditions[type="A"]`, nil, on, false},
		{`.status.conditions[type="A"]`, nil, off, true},
		{`.status.conditions[type="A"]`, on, nil, false},
		{`.status.conditions[type="A"].status`, "True", "False", false},
		{`.status.conditions[type="A"].reason`, "Created", "Updated", true},
		{`.status.conditions[type="A"].message`, "a", "b", true},
	} {
		t.Run(fmt.Sprintf("explore 52: %s %v", row.path, row.before), func(t *testing.T) {
			assert.Equal(t, row.want, isHistory(difference{"Shop tea", deploy.Change{Path: row.path, Before: row.before, After: row.after}}))
		})
	}
}
