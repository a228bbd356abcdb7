package watch

import (
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// broughtBy returns the attributes of the lines about events that brought an object to reconcile.
func (w *world) broughtBy() (lines []string) {
	about := regexp.MustCompile(`level=DEBUG msg="an event brings an object to reconcile" (.*)`)
	for _, found := range about.FindAllStringSubmatch(w.logs.String(), -1) {
		lines = append(lines, found[1])
	}
	return lines
}

func TestBrought(t *testing.T) {
	t.Parallel()
	debug := func(w *world) Option {
		return Logger(slog.New(slog.NewTextHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelDebug})))
	}
	inBubble(t, "log 2: the object of an event, what happened to it and its changed fields", func(w *world) {
		w.declare(source.Sources{Owned: []source.Owned{{Kind: configMaps}}})
		a := w.create(widget("a"))
		w.start(debug(w))
		c := w.create(child("c", a))
		w.settle()
		w.merge(c, `{"data":{"secret":"v"},"metadata":{"labels":{"a":"b"}}}`)
		w.settle()
		w.merge(a, `{"spec":{"size":4}}`)
		w.settle()
		w.delete(c)
		w.settle()
		for i, want := range []string{
			`object="Widget shop/a" trigger=listed by="Widget shop/a" event=added changed=""`,
			`object="Widget shop/a" trigger=child by="ConfigMap shop/c" event=added changed=""`,
			`object="Widget shop/a" trigger=child by="ConfigMap shop/c" event=modified changed="data, metadata.labels"`,
			`object="Widget shop/a" trigger=changed by="Widget shop/a" event=modified changed=spec.size`,
			`object="Widget shop/a" trigger=child by="ConfigMap shop/c" event=deleted changed=""`,
		} {
			lines := w.broughtBy()
			if assert.Greater(w.t, len(lines), i, lines) {
				assert.Equal(w.t, want, lines[i])
			}
		}
	})
	inBubble(t, "log 2: at the level info nothing is logged about events", func(w *world) {
		w.start()
		w.create(widget("a"))
		w.settle()
		assert.NotContains(w.t, w.logs.String(), "an event brings")
	})
}

func TestChangedFields(t *testing.T) {
	t.Parallel()
	of := func(fields int) *unstructured.Unstructured {
		data := map[string]any{}
		for i := range fields {
			data[fmt.Sprint("k", i)] = fmt.Sprint(fields)
		}
		return &unstructured.Unstructured{Object: map[string]any{"data": data, "metadata": map[string]any{"resourceVersion": fmt.Sprint(fields)}}}
	}
	assert.Equal(t, "data.k0, data.k1, data.k2, data.k3, data.k4, and 3 more", changedFields(deploy.Event{Type: deploy.Modified, Old: of(7), New: of(8)}))
	assert.Empty(t, changedFields(deploy.Event{Type: deploy.Added, New: of(1)}))
	assert.False(t, strings.Contains(changedFields(deploy.Event{Type: deploy.Modified, Old: of(1), New: of(2)}), "resourceVersion"))
}
