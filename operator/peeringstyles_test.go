package operator_test

import (
	"context"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator"
	handling "github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/kinds"
	"github.com/operkit/operkit/reconcile/peering"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// diverse is an operator of gadgets by components and of gears by children. Bells, which also get children, are found at
// run time.
func diverse() *operator.Operator {
	make := func(_ context.Context, env watch.Env) (watch.Reconciler, error) {
		return &children{env: env, patches: env.Patches(), kinds: []schema.GroupVersionKind{configMaps}, of: cogs}, nil
	}
	op := operator.New("gadget-operator")
	op.Control(settings{gadgets})
	op.Drive(watch.NewController(gears, make))
	op.DriveKinds(kinds.Selector{Group: bells.Group, Name: bells.Kind}, func(ctx context.Context, env watch.Env, _ deploy.ServedKind) (watch.Reconciler, error) {
		return make(ctx, env)
	})
	return op
}

// A freeze and a thaw end and begin everything that an operator consists of.
func TestFreezeOfAllStyles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	user := w.replica("operator", append(rightsIn(t, "## Priorities\n"), rightsIn(t, "## Events\n")...)...)
	r := w.run("gadget-operator", diverse(), user, "--namespace", w.Namespace, "--priority", "0", "--peering.namespace", w.Namespace,
		"--health.address", "127.0.0.1:0", "--metrics.address", "127.0.0.1:0", "--events.level", "normal")
	group := peering.Group{Domain: "operkit.dev", Operator: "gadget-operator", Namespace: w.Namespace}
	w.eventually("it is ready", func() bool {
		code, text := ask(t, r.address("health.address"), "/readyz")
		return code == http.StatusOK && strings.Contains(text, "peering: works")
	})
	metric := func(line string) func() bool {
		return func() bool {
			_, page := ask(t, r.address("metrics.address"), "/metrics")
			return strings.Contains(page, "\n"+line+"\n")
		}
	}
	for turn, name := range []string{"first", "second", "third"} {
		w.resource(gadgets, "gadget-"+name)
		w.resource(gears, "gear-"+name)
		w.resource(bells, "bell-"+name)
		w.eventually("all styles work", func() bool {
			return w.mode("gadget-"+name) == "old" && w.mode("gear-"+name) == "geared" && w.mode("bell-"+name) == "geared"
		})
		w.eventually("metrics", metric("operkit_paused 0"))
		w.eventually("resources are counted", metric(`operkit_resources{controller="Gear",standing="settled"} `+string(rune('1'+turn))))
		require.NoError(t, group.Freeze(t.Context(), w.api.Port(), "me@here", time.Hour))
		w.eventually("it pauses", metric("operkit_paused 1"))
		code, text := ask(t, r.address("health.address"), "/readyz")
		assert.Equal(t, http.StatusOK, code, "peering 12: it is ready")
		assert.Contains(t, text, "peering: paused: frozen by me@here, for ")
		w.change(w.ref(configMaps, "gear-"+name), `{"data":{"mode":"edited"}}`)
		time.Sleep(500 * time.Millisecond)
		assert.Equal(t, "edited", w.mode("gear-"+name), "peering 7: nothing is reconciled")
		_, err := group.Thaw(t.Context(), w.api.Port())
		require.NoError(t, err)
		w.eventually("peering 7: what has changed meanwhile is found", func() bool { return w.mode("gear-"+name) == "geared" })
	}
	w.patch("a", gadgets, "new")
	w.resource(gadgets, "one")
	w.eventually("patches are served", func() bool { return w.mode("one") == "new" })
	r.stop()
	assert.Empty(t, r.log.lines("level=ERROR"))
	assert.Nil(t, must(group.List(t.Context(), w.api.Port())), "no Lease is left")
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// The replicas of one leader election are one peer, also when one of them takes over from a leader that was killed.
func TestReplicasAreOnePeer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions))
	rights := append(leading(t), rightsIn(t, "## Priorities\n")...)
	flags := append([]string{"--priority", "0"}, brief...)
	first := w.process(w.replica("first", rights...), flags...)
	w.logged(first, worksAmongPeers, 1)
	second := w.process(w.replica("second", rights...), flags...)
	w.eventually("it waits", second.says("another replica leads"))
	group := peering.Group{Domain: "operkit.dev", Operator: "gadget-operator", Namespace: w.Namespace}
	assert.Len(t, must(group.List(t.Context(), w.api.Port())), 1, "peering 6: only the leader is a peer")
	first.send(t, syscall.SIGKILL)
	first.end(t)
	led := w.logged(second, leads, 1)
	works := w.logged(second, worksAmongPeers, 1)
	assert.Less(t, works.Sub(led), time.Second, "peering 6: it doesn't wait for the Lease of the one before it")
	w.gadget("one", "nothing")
	w.eventually("it works", func() bool { return w.mode("one") == "old" })
	w.eventually("the old Lease is deleted when it has run out", func() bool { return len(must(group.List(t.Context(), w.api.Port()))) == 1 })
	assert.Empty(t, second.log.lines(equalPauses))
	second.send(t, syscall.SIGTERM)
	state, _ := second.end(t)
	assert.Zero(t, state.ExitCode())
}

// A freeze ends daemons, and a thaw begins them again.
func TestFreezeOfDaemons(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions))
	var j journal
	build := func() *operator.Operator {
		h := handling.New[handling.Unstructured](gears)
		h.Daemon("measure", func(ctx context.Context, _ *handling.Request[handling.Unstructured]) error {
			j.write("begins")
			<-ctx.Done()
			j.write("ends: %v", context.Cause(ctx))
			return nil
		})
		op := operator.New("gadget-operator", operator.WithoutTemporaryPatches())
		op.Drive(h)
		return op
	}
	user := w.replica("operator", append(rightsIn(t, "## Priorities\n"), rightsIn(t, "## Events\n")...)...)
	r := w.run("gadget-operator", build(), user, "--namespace", w.Namespace, "--priority", "0", "--peering.namespace", w.Namespace)
	w.resource(gears, "one")
	w.eventually("it begins", func() bool { return len(j.has("begins")) == 1 })
	group := peering.Group{Domain: "operkit.dev", Operator: "gadget-operator", Namespace: w.Namespace}
	require.NoError(t, group.Freeze(t.Context(), w.api.Port(), "me@here", time.Hour))
	w.eventually("peering 7: it ends", func() bool { return len(j.has("ends: "+string(handling.StopStandby))) == 1 })
	time.Sleep(time.Second)
	assert.Len(t, j.has("begins"), 1)
	_, err := group.Thaw(t.Context(), w.api.Port())
	require.NoError(t, err)
	w.eventually("peering 7: it begins again", func() bool { return len(j.has("begins")) == 2 })
	r.stop()
	assert.Len(t, j.has("ends: "), 2)
	code := build().Execute(t.Context(), []string{"release", "gear/one", "--yes", "-n", w.Namespace, "--kubeconfig", w.Kubeconfig(t, user)}, r.log, r.log)
	assert.Zero(t, code)
	assert.Empty(t, w.finalizers(gears, "one"), "release 1: the finalizer of handlers is the operator's own")
}
