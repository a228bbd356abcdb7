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

func TestMerged(t *testing.T) {
	t.Run("explore 70: what the operator never saw need not show", func(t *testing.T) {
		const resized = "Shop.explore.operkit.dev tea with spec.size: 3"
		for _, plan := range []string{"miss@1.0", "miss@2.0", "hurry@1.1", "hurry@2.1"} {
			r := explored(t, manually(remembersChanges), startDriven, Replay(resized+" | "+plan))
			assert.Empty(t, r.findings, stories(r))
		}
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
			"0: create Shop.explore.operkit.dev tea of 4", "1: edit tea: undone of 4", "2: delete Shop.explore.operkit.dev tea of 4",
		}, names)
		once, _ := life{chapters: []chapter{create(tea), remove(tea)}}.merged(0)
		assert.Equal(t, "nothing happens", once.chapters[0].name)
		assert.Len(t, once.chapters, 1)
	})
}

func unstructuredShop() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object("{apiVersion: explore.operkit.dev/v1, kind: Shop, metadata: {name: tea}}")}
}
