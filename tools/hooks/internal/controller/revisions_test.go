package controller_test

import (
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// colors returns the colors of the cats.
func colors(h *reconciletest.Harness) (all string) {
	for _, name := range []string{"ConfigMap cat-0", "ConfigMap cat-1"} {
		color, _, _ := unstructured.NestedString(h.Get(name).Object, "data", "color")
		all += color + " "
	}
	return all
}

func TestRevisions(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		rolled bool
		want   string
		asked  []string
	}{
		"hooks 14: the hook is asked about each revision": {true, "red blue ", []string{"red", "blue"}},
		"hooks 14: without kinds that are rolled":         {false, "red red ", []string{"red"}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			server := newHook(t, map[string]func(asked) any{"/sync": configMaps})
			text := strings.Replace(defined(server.URL, syncOnly), "resource: catsets}", "resource: catsets, revisionHistory: {fieldPaths: [spec.color]}}", 1)
			if row.rolled {
				text = strings.Replace(text, "method: InPlace", "method: RollingInPlace, statusChecks: {conditions: [{type: Fed}]}", 1)
			}
			h := drive(t, read(t, text))
			h.Apply(tom)
			h.RunUntilSettled()
			edit(h, "color", "red")
			h.RunUntilSettled()
			assert.Equal(t, row.want, colors(h), "cat-0 hasn't been fed")
			server.asked()
			_, err := h.Reconcile("CatSet tom")
			assert.NoError(t, err)
			var about []string
			for _, call := range server.asked() {
				color, _, _ := unstructured.NestedString(call.Parent.Object, "spec", "color")
				about = append(about, color)
			}
			assert.Equal(t, row.asked, about)
		})
	}
}
