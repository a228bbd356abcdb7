package reconcile

import (
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func TestStrangePauses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.reconciler(room())
	w.pause("yes")
	assert.Equal(t, []string{"apply ConfigMap shop/c", writeStatus}, w.calm(r), "reconcile 38: it is no pause")
	assert.Empty(t, w.calm(r))
	assert.Equal(t, 1, w.logs.Count("not paused"), "it is said once")
	assert.Zero(t, r.Tally().Resources[Paused])
	w.pause("no")
	w.calm(r)
	w.calm(r)
	assert.Equal(t, 2, w.logs.Count("not paused"), "and of each value")
	w.unpause()
	w.calm(r)
	w.pause("no")
	w.calm(r)
	assert.Equal(t, 3, w.logs.Count("not paused"), "also of one that comes back")
	w.delete(widgetRef)
	w.calm(r)
	assert.Zero(t, r.memory.Len(), "and nothing is kept of what is gone")
}

func TestPaused(t *testing.T) {
	t.Parallel()
	resource := func(name, value string) *unstructured.Unstructured {
		obj := widget()
		obj.SetName(name)
		obj.SetUID(types.UID("uid-of-" + name))
		obj.SetAnnotations(map[string]string{"operkit.dev/pause-execution": value})
		return obj
	}
	w := newWorld(t, resource("a", "true"), resource("b", "TRUE"), resource("c", "2030-01-02T03:10:00Z"), resource("d", "maybe"), resource("e", "2030-01-01T00:00:00Z"))
	r := w.reconciler(adding(func(*Session) {}))
	reconcile := func(names ...string) {
		t.Helper()
		for _, name := range names {
			_, err := r.Reconcile(t.Context(), request.Request{Key: deploy.Ref{Kind: widgets, Namespace: "shop", Name: name}})
			require.NoError(t, err)
		}
	}
	ref := func(name string) deploy.Ref { return deploy.Ref{Kind: widgets, Namespace: "shop", Name: name} }
	assert.Zero(t, r.Tally().Resources[Paused], "nobody has looked yet")
	reconcile("a", "b", "c", "d", "e", "w")
	reconcile("a", "b", "c", "d", "e", "w")
	assert.Equal(t, 3, r.Tally().Resources[Paused], "each once; a strange value and a time that is over don't count")
	w.clock.advance(time.Hour)
	reconcile("c")
	assert.Equal(t, 2, r.Tally().Resources[Paused], "nor does a time that comes to be")
	w.delete(ref("a"))
	reconcile("a")
	assert.Equal(t, 1, r.Tally().Resources[Paused], "watch mistake 2: what is gone doesn't count")
	key := func(name string) deploy.Ref { return deploy.Ref{Kind: widgets, Namespace: "shop", Name: name} }
	r.Forget(deploy.Ref{Kind: widgets, Namespace: "bank", Name: "b"})
	assert.Equal(t, 1, r.Tally().Resources[Paused], "what is still there does")
	r.Forget(key("b"))
	assert.Zero(t, r.Tally().Resources[Paused], "nor does what has left the view")
	for _, name := range []string{"c", "d", "e"} {
		r.Forget(key(name))
	}
	r.Forget(key("w"))
	assert.Zero(t, r.memory.Len(), "and nothing is kept of it")
	assert.Empty(t, r.Tally().Resources)
}

// A resource that goes between its being read and its condition's being written leaves nothing behind.
func TestPausedOneThatGoesMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pause("true")
	r := w.reconciler(room())
	resource := w.widget()
	w.delete(widgetRef)
	w.forget()
	p, rests := r.paused(t.Context(), resource)
	require.True(t, rests)
	_, err := r.rest(t.Context(), resource, p)
	require.NoError(t, err)
	assert.Empty(t, w.made())
	assert.Zero(t, r.Tally().Resources[Paused])
}
