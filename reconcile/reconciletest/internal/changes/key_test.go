package changes_test

import (
	"testing"

	"github.com/operkit/operkit/reconcile/reconciletest/internal/changes"
	"github.com/stretchr/testify/assert"
)

func TestKey(t *testing.T) {
	for _, row := range []struct {
		reason, list string
		want         []string
	}{
		{"by name", `[{name: a}, {name: b}]`, []string{`name="a"`, `name="b"`}},
		{"by type", `[{type: Ready}]`, []string{`type="Ready"`}},
		{"by index, because two have the same name", `[{name: a}, {name: a}]`, []string{"0", "1"}},
		{"by index, because of scalars", `[a, b]`, []string{"0", "1"}},
	} {
		t.Run("explore 50: an element in the path of a change: "+row.reason, func(t *testing.T) {
			list, _ := content(t, "{list: "+row.list+"}")["list"].([]any)
			var keys []string
			for i := range list {
				keys = append(keys, changes.Key(list, i))
			}
			assert.Equal(t, row.want, keys)
		})
	}
}
