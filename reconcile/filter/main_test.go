package filter

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// of reads an object from YAML, its numbers as they come from a cluster.
func of(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	obj := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &obj), text)
	whole(obj)
	return &unstructured.Unstructured{Object: obj}
}

// whole makes whole numbers of those that YAML has made floating.
func whole(value any) any {
	switch inner := value.(type) {
	case map[string]any:
		for key := range inner {
			inner[key] = whole(inner[key])
		}
	case []any:
		for i := range inner {
			inner[i] = whole(inner[i])
		}
	case float64:
		if inner == float64(int64(inner)) {
			return int64(inner)
		}
	}
	return value
}

func added(obj *unstructured.Unstructured) deploy.Event {
	return deploy.Event{Type: deploy.Added, New: obj}
}

func modified(before, after *unstructured.Unstructured) deploy.Event {
	return deploy.Event{Type: deploy.Modified, Old: before, New: after}
}

func deleted(obj *unstructured.Unstructured) deploy.Event {
	return deploy.Event{Type: deploy.Deleted, Old: obj, New: obj}
}

// row is one event and what a predicate says of it. Without before the object comes, without after it goes.
type row struct {
	reason        string
	predicate     Predicate
	before, after string
	want          bool
}

func (r row) event(t *testing.T) deploy.Event {
	t.Helper()
	switch {
	case r.before == "":
		return added(of(t, r.after))
	case r.after == "":
		return deleted(of(t, r.before))
	}
	return modified(of(t, r.before), of(t, r.after))
}

func runRows(t *testing.T, rows []row) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			event := row.event(t)
			kept := deploy.Event{Type: event.Type, Old: event.Old.DeepCopy(), New: event.New.DeepCopy()}
			assert.Equal(t, row.want, row.predicate(event))
			assert.Equal(t, kept, event, "what a View shows is shared")
		})
	}
}
