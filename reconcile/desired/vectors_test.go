package desired_test

import (
	"fmt"
	"testing"

	"github.com/operkit/operkit/reconcile/desired/internal/revision"
	"github.com/operkit/operkit/reconcile/desired/internal/selector"
	"github.com/operkit/operkit/reconcile/internal/plain"
	"github.com/operkit/operkit/reconcile/internal/vectortest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// The rules by which cases deviate from metacontroller, which the vectors name or which are ours.
const (
	byUID           = "uid-needed"
	byContradiction = "label-contradiction"
	byPath          = "path-must-exist"
	byOwner         = "revisions-are-found-by-their-owner"
)

func TestVectors(t *testing.T) {
	t.Run("desired 20: what becomes of a child is what a server-side apply makes of it", func(t *testing.T) {
		vectortest.Run(t, "metacontroller-merge", mergeCase)
		vectortest.Run(t, "metacontroller-apply", applyCase)
	})
	t.Run("desired 12: selectors", func(t *testing.T) {
		vectortest.Run(t, "metacontroller-selector", selectorCase)
	})
	t.Run("desired 24: revisions", func(t *testing.T) {
		vectortest.Run(t, "metacontroller-revision", revisionCase)
	})
}

// into converts a value of a vector.
func into[T any](t *testing.T, value any) *T {
	t.Helper()
	content, _ := value.(map[string]any)
	if content == nil {
		return nil
	}
	converted := new(T)
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(content, converted))
	return converted
}

func textsOf(t *testing.T, value any) map[string]string {
	t.Helper()
	texts := map[string]string{}
	content, _ := value.(map[string]any)
	for key, text := range content {
		texts[key] = fmt.Sprint(text)
	}
	return texts
}

func selectorCase(t *testing.T, c *vectortest.Case) {
	spec, err := into[metav1.LabelSelector](t, c.Input["spec_selector"]), error(nil)
	if c.Input["generate"] == true {
		spec, err = selector.Generated(types.UID(c.Input["parent_uid"].(string)))
	}
	var made labels.Selector
	if err == nil {
		made, err = selector.Of(spec, textsOf(t, c.Input["extra_labels"]))
	}
	switch {
	case c.Doubtful && (c.Rule == byUID || c.Rule == byContradiction):
		c.Deviates(c.Rule)
		require.Error(t, err)
		return
	case c.Error:
		require.Error(t, err)
		return
	}
	require.NoError(t, err)
	matches := []any{}
	for _, one := range c.Input["try_labels"].([]any) {
		matches = append(matches, made.Matches(labels.Set(textsOf(t, one))))
	}
	assert.Equal(t, c.Want(t), map[string]any{"selector": made.String(), "matches": matches})
}

func revisionCase(t *testing.T, c *vectortest.Case) {
	uid := types.UID(c.Input["parent_uid"].(string))
	group, resource := c.Input["group"].(string), c.Input["resource"].(string)
	parent := map[string]any{"spec": c.Input["parent_spec"]}
	before := runtime.DeepCopyJSON(parent)
	var paths []string
	for _, path := range c.Input["field_paths"].([]any) {
		paths = append(paths, path.(string))
	}
	patch, err := revision.Patch(parent, paths)
	assert.Equal(t, before, parent)
	switch {
	case c.Doubtful && c.Rule == byPath:
		c.Deviates(c.Rule)
		require.ErrorContains(t, err, "the parent doesn't have this field")
		return
	case c.Name == "template-labels-not-strings":
		require.NoError(t, err)
		c.Deviates(byOwner)
		return
	case c.Error:
		return
	}
	require.NoError(t, err)
	name, err := revision.Name(group, resource, uid, patch)
	require.NoError(t, err)
	over, err := revision.At(parent, patch, paths)
	require.NoError(t, err)
	assert.Equal(t, parent, over, "the revision of the present parent is the present parent")
	want := c.Want(t).(map[string]any)
	got, err := plain.Value(map[string]any{"name": name, "labels": want["labels"], "patch": patch, "namespace": want["namespace"], "owner": want["owner"]})
	require.NoError(t, err)
	assert.Equal(t, want, got) // owner and namespace are set by whoever applies it, and it is found by its owner without labels
}
