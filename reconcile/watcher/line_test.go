package watcher

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// lineup is a play of watchers that are called for one object at a time, whose calls for another object run.
type lineup struct {
	*play
	brought
	gates map[string]*gate
}

func newLineup(t *testing.T, names ...string) *lineup {
	l := &lineup{play: newPlay(t, map[string]any{"policy": map[string]any{"kind": "exponential", "initial_s": int64(5), "max": int64(3)}}), gates: map[string]*gate{}}
	for _, name := range names {
		l.add(Add(name, l.watcher(map[string]any{"name": name}), Concurrency(1)), name)
	}
	require.NoError(t, l.made().start(t.Context(), &l.brought))
	for _, m := range l.made().roster.list() {
		l.gates[m.name] = l.made().gates.of(m)
		require.True(t, l.gates[m.name].enter(ref("other")))
	}
	return l
}

// end ends the call of a watcher for the other object.
func (l *lineup) end(name string) { l.made().invite(l.gates[name], l.gates[name].leave()) }

// appears makes a pass over a new object.
func (l *lineup) appears(name string) *unstructured.Unstructured {
	object := l.object(map[string]any{"name": name, "namespace": "default", "generation": int64(1)})
	l.sees(ref(name), added(object), object)
	return object
}

// leaves has an object leave the view before a worker takes it, as the engine does.
func (l *lineup) leaves(object *unstructured.Unstructured) {
	l.objects[deploy.RefOf(object)] = nil
	l.reconciler.(watch.Observer).Observe(deploy.Event{Type: deploy.Left, Old: object, New: object})
	l.reconciler.(watch.Forgetter).Forget(deploy.RefOf(object))
}

// took returns the objects that were brought since it was last called.
func (l *lineup) took() (refs []deploy.Ref) {
	l.mu.Lock()
	defer l.mu.Unlock()
	refs, l.refs = l.refs, nil
	return refs
}

// inBubble runs a test whose timers end with it.
func inBubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

func TestLine(t *testing.T) {
	inBubble(t, "watcher 79: the place of an object that leaves the view when it is invited is free", func(t *testing.T) {
		l := newLineup(t, "w")
		object := l.appears("a")
		l.end("w")
		require.Equal(t, []deploy.Ref{ref("a")}, l.took())
		l.leaves(object)
		assert.Equal(t, 1, l.gates["w"].free)
	})
	inBubble(t, "watcher 79: and the next one in the line gets it", func(t *testing.T) {
		l := newLineup(t, "w")
		object := l.appears("a")
		l.appears("b")
		l.appears("c")
		l.end("w")
		require.Equal(t, []deploy.Ref{ref("a")}, l.took())
		l.leaves(object)
		assert.Equal(t, []deploy.Ref{ref("b")}, l.took())
	})
	inBubble(t, "watcher 79: one that waits leaves the line with the view", func(t *testing.T) {
		l := newLineup(t, "w")
		l.leaves(l.appears("a"))
		l.appears("b")
		l.end("w")
		assert.Equal(t, []deploy.Ref{ref("b")}, l.took())
	})
	inBubble(t, "watcher 79: one whose lock another replica holds gives its place to the next one, and comes again", func(t *testing.T) {
		l := newLineup(t, "w")
		l.appears("a")
		l.appears("b")
		l.reconciler.(watch.Forgetter).Forget(ref("a"))
		l.end("w")
		require.Equal(t, []deploy.Ref{ref("a")}, l.took(), "one that waits keeps its place")
		l.reconciler.(watch.Forgetter).Forget(ref("a"))
		assert.Equal(t, []deploy.Ref{ref("b")}, l.took())
		l.pass(ref("b"))
		l.pass(ref("a"))
		assert.Len(t, l.calls, 2)
		assert.Equal(t, 1, l.gates["w"].free)
	})
	inBubble(t, "watcher 79: one that doesn't come in time goes to the end of the line", func(t *testing.T) {
		l := newLineup(t, "w")
		l.appears("a")
		l.appears("b")
		l.end("w")
		require.Equal(t, []deploy.Ref{ref("a")}, l.took())
		time.Sleep(patience - time.Nanosecond)
		synctest.Wait()
		require.Empty(t, l.took())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Equal(t, []deploy.Ref{ref("b")}, l.took())
		l.pass(ref("a"))
		require.Empty(t, l.calls, "the place is kept for the next one")
		l.pass(ref("b"))
		require.Equal(t, []deploy.Ref{ref("a")}, l.took())
		l.pass(ref("a"))
		time.Sleep(patience)
		synctest.Wait()
		assert.Empty(t, l.took(), "nobody waits any more")
		assert.Equal(t, 1, l.gates["w"].free)
	})
	inBubble(t, "watcher 81: the retries of a deletion go on while an earlier watcher of the object waits", func(t *testing.T) {
		l := newLineup(t, "limited")
		l.add(Add("w", l.watcher(map[string]any{"name": "w", "fail": map[string]any{"delete": int64(1)}})), "w")
		l.end("limited")
		first := l.appears("a")
		require.Len(t, l.calls, 2)
		l.sees(ref("a"), deleted(first), nil)
		require.Len(t, l.calls, 4)
		require.True(t, l.gates["limited"].enter(ref("other")))
		l.lives[ref("a")]++
		l.appears("a")
		require.Len(t, l.calls, 4)
		l.until(l.begin.Add(time.Minute))
		require.Len(t, l.calls, 5)
		assert.Equal(t, call{who: "w", action: "delete"}, call{who: l.calls[4].who, action: l.calls[4].action})
		assert.Equal(t, 5*time.Second, l.calls[4].at)
		assert.Empty(t, l.due)
	})
	inBubble(t, "watcher 83: an event for an object that waits for a later watcher leaves it in its place", func(t *testing.T) {
		l := newLineup(t, "first", "second")
		l.end("first")
		object := l.appears("a")
		l.appears("b")
		require.True(t, l.gates["first"].enter(ref("other")))
		changed := l.object(map[string]any{"name": "a", "namespace": "default", "generation": int64(2)})
		l.sees(ref("a"), modified(object, changed), changed)
		l.end("second")
		assert.Equal(t, []deploy.Ref{ref("a")}, l.took())
		l.pass(ref("a"))
		assert.Equal(t, []deploy.Ref{ref("b")}, l.took(), "it still waits for the first one, and gives the place back")
		l.end("first")
		assert.Equal(t, []deploy.Ref{ref("a")}, l.took())
	})
}
