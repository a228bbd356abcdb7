package watcher

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestLeftWithDeletion(t *testing.T) {
	t.Run("watcher 71: the deletion of an earlier object is handled, although the present one leaves the view", func(t *testing.T) {
		synctest.Test(t, testLeftWithDeletion)
	})
}

func testLeftWithDeletion(t *testing.T) {
	var mu sync.Mutex
	var calls []string
	note := func(what string, err error) func(context.Context, *unstructured.Unstructured) error {
		return func(_ context.Context, o *unstructured.Unstructured) error {
			mu.Lock()
			defer mu.Unlock()
			calls = append(calls, what+" "+string(o.GetUID()))
			if len(calls) > 2 {
				return nil
			}
			return err
		}
	}
	view := &pushedView{handle: make(chan func(deploy.Event), 1)}
	watchers := New[unstructured.Unstructured](items, Add("w", Simple(Funcs[unstructured.Unstructured]{
		Add: note("add", nil), Delete: note("delete", errors.New("boom")),
	})))
	stop := runEngine(t, view, watchers)
	handle := <-view.handle
	first := view.push(1)
	handle(added(first))
	time.Sleep(time.Second)
	second := first.DeepCopy()
	second.SetUID("b")
	handle(deleted(first))
	view.object.Store(second)
	handle(added(second))
	time.Sleep(time.Second)
	view.object.Store(nil)
	handle(deploy.Event{Type: deploy.Left, Old: second, New: second})
	time.Sleep(time.Minute)
	mu.Lock()
	assert.Equal(t, []string{"add a", "delete a", "delete a"}, calls)
	mu.Unlock()
	stop()
}

func TestOverdue(t *testing.T) {
	t.Run("watcher 75: OnError gets a context that goes on when the time of the reconcile is over", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ends := make(chan [2]error, 1)
			var inCall error
			watchers := New[unstructured.Unstructured](items, Retry(nil), OnError(func(ctx context.Context, _ Failure) { ends <- [2]error{inCall, ctx.Err()} }),
				Add("w", Simple(Funcs[unstructured.Unstructured]{Add: func(ctx context.Context, _ *unstructured.Unstructured) error {
					<-ctx.Done()
					inCall = ctx.Err()
					return inCall
				}})))
			w := newWorld(t, watchers, watch.Timeout(time.Minute))
			w.create("a")
			assert.Equal(t, [2]error{context.DeadlineExceeded, nil}, <-ends)
			w.stop()
		})
	})
}

func TestMissedDeletion(t *testing.T) {
	for _, row := range []struct {
		reason string
		when   func(e deploy.Event) bool
		want   []string
	}{
		{"refused", func(e deploy.Event) bool { return e.Type != deploy.Deleted }, []string{"w add", "w add"}},
		{"passed", func(deploy.Event) bool { return true }, []string{"w add", "w delete", "w add"}},
	} {
		t.Run("watcher 72: a deletion that was missed is subject to the filter, too: "+row.reason, func(t *testing.T) {
			p := newPlay(t, map[string]any{"policy": map[string]any{"kind": "nil"}})
			p.add(Add("w", p.watcher(map[string]any{"name": "w"}), When(row.when)), "w")
			content := map[string]any{"name": "a", "namespace": "default", "generation": int64(1)}
			first := p.object(content)
			p.sees(ref("a"), added(first), first)
			p.lives[ref("a")]++
			second := p.object(content)
			p.sees(ref("a"), modified(first, second), second)
			var calls []string
			for _, c := range p.calls {
				calls = append(calls, c.who+" "+c.action)
			}
			assert.Equal(t, row.want, calls)
		})
	}
}

func TestForcedIsKept(t *testing.T) {
	t.Run("watcher 73: a forced reconcile that can't read the object is made up for", func(t *testing.T) {
		p := newPlay(t, map[string]any{"policy": map[string]any{"kind": "nil"}, "watchers": []any{map[string]any{"name": "w"}}})
		object := p.object(map[string]any{"name": "a", "namespace": "default", "generation": int64(1)})
		p.sees(ref("a"), added(object), object)
		p.unreadable = errors.New("the cluster doesn't answer")
		_, err := p.reconciler.Reconcile(t.Context(), request.Request{Key: ref("a"), Triggers: request.Forced})
		require.ErrorIs(t, err, p.unreadable)
		p.unreadable = nil
		p.calls = nil
		p.pass(ref("a"))
		assert.Len(t, p.calls, 1)
		p.pass(ref("a"))
		assert.Len(t, p.calls, 1, "once")
	})
	t.Run("watcher 73: and one of an object that is gone leaves nothing", func(t *testing.T) {
		p := newPlay(t, map[string]any{"policy": map[string]any{"kind": "nil"}, "watchers": []any{map[string]any{"name": "w"}}})
		_, err := p.reconciler.Reconcile(t.Context(), request.Request{Key: ref("a"), Triggers: request.Forced})
		require.NoError(t, err)
		assert.Empty(t, p.made().objects.entries)
	})
}

func TestRemoveDrops(t *testing.T) {
	t.Run("watcher 74: what a removed watcher has to do is dropped at once", func(t *testing.T) {
		p := newPlay(t, map[string]any{"policy": map[string]any{"kind": "exponential", "initial_s": int64(5), "max": int64(3)}, "watchers": []any{
			map[string]any{"name": "w", "fail": map[string]any{"add": int64(-1), "delete": int64(-1)}}, map[string]any{"name": "v"},
		}})
		target := brought{}
		require.NoError(t, p.made().start(t.Context(), &target))
		for _, name := range []string{"a", "gone"} {
			object := p.object(map[string]any{"name": name, "namespace": "default", "generation": int64(1)})
			p.sees(ref(name), added(object), object)
			if name == "gone" {
				p.sees(ref(name), deleted(object), nil)
			}
		}
		target.refs = nil
		require.NotEmpty(t, p.made().objects.entries[ref("gone")].works)
		p.handles["w"].Remove()
		assert.ElementsMatch(t, []deploy.Ref{ref("a"), ref("gone")}, target.refs, "they don't count as failing any more")
		assert.Nil(t, p.made().objects.entries[ref("gone")])
		assert.Empty(t, p.made().objects.entries[ref("a")].works)
	})
}

// brought is a source.Target that keeps what is brought.
type brought struct {
	mu   sync.Mutex
	refs []deploy.Ref
}

func (b *brought) Bring(refs ...deploy.Ref) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refs = append(b.refs, refs...)
}
func (b *brought) Keys() []deploy.Ref { return nil }
func (b *brought) Failed(error)       {}
