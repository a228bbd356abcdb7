package reconcile

import (
	"errors"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestChildOfSomebodyElse(t *testing.T) {
	t.Parallel()
	nobodys := configMap("a")
	nobodys.SetNamespace("shop")
	for _, row := range []struct {
		reason string
		theirs *unstructured.Unstructured
		owner  string
	}{
		{"mistake 24: owned by another resource", owned(configMap("a"), "somebody"), "Widget other (uid somebody)"},
		{"mistake 24: owned by nobody", nobodys, ""},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, row.theirs)
			before := w.get(configMapRef("a"))
			r := w.reconciler(adding(func(s *Session) { s.Add("c", configMap("a"), configMap("b")); s.Add("d", configMap("d")) }), Concurrency(0))
			calls, _, err := w.once(r)
			want := "component c: " + (&deploy.OwnedError{Ref: configMapRef("a"), Owner: row.owner}).Error()
			assert.EqualError(t, err, want)
			assert.Equal(t, []string{"apply ConfigMap shop/d", writeStatus}, calls)
			assert.Equal(t, before, w.get(configMapRef("a")), "nothing of it is taken")
			assert.Equal(t, "Initializing/ClusterError", w.verdict())
			assert.Equal(t, want, w.message())
			w.delete(configMapRef("a"))
			w.calm(r)
			assert.Equal(t, "Stable/Stable", w.verdict(), "once its name is free it is ours")
		})
	}
}

func TestTerminatingChild(t *testing.T) {
	t.Parallel()
	going := owned(configMap("a"), widgetUID)
	going.SetFinalizers([]string{"example.dev/slow"})
	w := newWorld(t, going)
	w.delete(configMapRef("a"))
	r := w.reconciler(adding(func(s *Session) { s.Add("c", configMap("a")) }))
	calls, result, err := w.once(r)
	require.NoError(t, err, "it is waited for")
	assert.Equal(t, []string{writeStatus}, calls)
	assert.Equal(t, r.options.recheck, result.RequeueAfter)
	assert.Equal(t, "Initializing/VerifyWait", w.verdict())
	assert.Equal(t, "c: "+(&deploy.TerminatingError{Ref: configMapRef("a"), Finalizers: []string{"example.dev/slow"}}).Error(), w.message())
	w.merge(configMapRef("a"), `{"metadata":{"finalizers":null}}`)
	assert.Equal(t, []string{"apply ConfigMap shop/a", writeStatus}, w.calm(r))
}

func TestUnknownKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serves(deployments)
	r := w.reconciler(adding(func(s *Session) { s.Add("c", deployment("d")); s.Add("apart", configMap("a")) }))
	calls, _, err := w.once(r)
	want := "component c: " + (&deploy.KindUnknownError{Kind: deployments}).Error()
	assert.EqualError(t, err, want)
	assert.Equal(t, []string{"apply ConfigMap shop/a", writeStatus}, calls)
	assert.Equal(t, "Initializing/ClusterError", w.verdict())
	assert.Equal(t, want, w.message())
	w.serves()
	assert.Equal(t, []string{"apply Deployment shop/d", writeStatus}, w.calm(r), "once it is served it goes on")
}

func TestDriftIsRepaired(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.reconciler(adding(func(s *Session) { s.Add("c", configMap("a"), configMap("b")) }))
	w.calm(r)
	for _, row := range []struct {
		reason string
		change func()
		want   []string
	}{
		{"a changed field", func() { w.merge(configMapRef("a"), `{"data":{"key":"other"}}`) }, []string{"apply ConfigMap shop/a"}},
		{"a deleted object", func() { w.delete(configMapRef("b")) }, []string{"apply ConfigMap shop/b"}},
		{"what others add stays", func() { w.merge(configMapRef("a"), `{"data":{"theirs":"x"}}`) }, nil},
	} {
		row.change()
		assert.Equal(t, row.want, w.calm(r), "%s: exactly that is written", row.reason)
	}
}

// The names of children that this resource had under its earlier uid are its own only once
// those are gone.
func TestSuccessorOfTheSameName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, owned(configMap("a"), "predecessor"))
	r := w.reconciler(adding(func(s *Session) { s.Add("c", configMap("a")) }))
	_, _, err := w.once(r)
	var held *deploy.OwnedError
	require.True(t, errors.As(err, &held))
	w.delete(configMapRef("a"))
	assert.Equal(t, []string{"apply ConfigMap shop/a", writeStatus}, w.calm(r))
}

func TestEveryClusterOfItsOwn(t *testing.T) {
	t.Parallel()
	// One controller and many resources at once: the race detector watches.
	resources := make([]*unstructured.Unstructured, 20)
	for i := range resources {
		resources[i] = widget()
		resources[i].SetName(string(rune('a' + i)))
		resources[i].SetUID("")
	}
	memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(resources...))
	require.NoError(t, err)
	w := &world{recorder: &recorder{memory: memory}, t: t, clock: &clock{now: newWorld(t).clock.now}, logs: &testlog.Text{}}
	r := w.reconciler(&finalizing{controller: *adding(func(s *Session) {
		s.Add("web", configMap(s.ScopedName("web"))).After(s.Add("db", configMap(s.ScopedName("db"))), Ready)
	})})
	done := make(chan error)
	for _, resource := range resources {
		go func() {
			request := widgetRequest
			request.Key.Name = resource.GetName()
			_, err := r.Reconcile(t.Context(), request)
			done <- err
		}()
	}
	for range resources {
		assert.NoError(t, <-done)
	}
	assert.Len(t, w.made(), 20*4, "for each a finalizer, two objects and a status")
}
