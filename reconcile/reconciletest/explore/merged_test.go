package explore

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// remembersChanges says in the status from which size it has changed the last time.
func remembersChanges(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	till, err := m.get(ctx, "ConfigMap", "till", resource)
	if err != nil {
		return err
	}
	size := fmt.Sprint(sizeOf(resource))
	if till == nil {
		return m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: till}, data: {size: '%s'}}", size)
	}
	before, _, _ := unstructured.NestedString(till.Object, "data", "size")
	if before == size {
		return nil
	}
	if err := m.patch(ctx, resource, "status", fmt.Sprintf(`{"status":{"text":"changed from %s"}}`, before)); err != nil {
		return err
	}
	return m.patch(ctx, till, "", fmt.Sprintf(`{"data":{"size":%q}}`, size))
}

// remembersBirth says in the status with which spec it was created.
func remembersBirth(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	if statusOf(resource, "born") != "" {
		return nil
	}
	title, _, _ := unstructured.NestedString(resource.Object, "spec", "title")
	return m.status(ctx, resource, "born", fmt.Sprint(sizeOf(resource), title))
}

func TestMerged(t *testing.T) {
	t.Run("explore 70: what the operator never saw need not show", func(t *testing.T) {
		const resized = "Shop.explore.operkit.dev tea with spec.size: 3"
		for _, plan := range []string{"miss@1.0", "miss@2.0", "hurry@1.1", "hurry@2.1"} {
			r := explored(t, manually(remembersChanges), startDriven, Replay(resized+" | "+plan))
			assert.Empty(t, r.findings, stories(r))
		}
	})
	t.Run("explore 70: neither need two steps show", func(t *testing.T) {
		r := byHand(remembersBirth).explore(t, true, Replay(`Shop.explore.operkit.dev tea with spec.size: 2, spec.title: "milk" | miss@1.0,miss@2.0`))
		assert.Empty(t, r.findings, stories(r))
	})
	t.Run("explore 70: which chapters become one", func(t *testing.T) {
		tea := unstructuredShop()
		l := life{chapters: []chapter{create(tea), change("tea", "an edit", tea), change("tea", "undone", tea), remove(tea), create(tea)}}
		var names []string
		for n := range l.chapters {
			once, merges := l.merged(n)
			if merges {
				names = append(names, fmt.Sprintf("%d: %s of %d", n, once.chapters[n].name, len(once.chapters)))
			}
		}
		assert.Equal(t, []string{
			"0: create Shop.explore.operkit.dev tea, edit tea: an edit of 4", "1: edit tea: an edit, edit tea: undone of 4",
			"2: edit tea: undone, delete Shop.explore.operkit.dev tea of 4",
		}, names)
		_, merges := life{chapters: []chapter{remove(tea), create(tea)}}.merged(0)
		assert.False(t, merges, "what comes after a deletion is new")
	})
}

func unstructuredShop() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object("{apiVersion: explore.operkit.dev/v1, kind: Shop, metadata: {name: tea}}")}
}
