package watch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// looks has the inbox looked through once, by a watcher that counts events after which the size is another one.
type looks struct {
	events, told []string
	apart        bool
}

func (l *looks) watcher() *watcher {
	size := func(obj *unstructured.Unstructured) any { return obj.Object["size"] }
	return &watcher{apart: l.apart, tell: l.tell, look: func(event deploy.Event, listing bool) bool {
		line := fmt.Sprint(event.Type, " ", event.New.GetName())
		brought := true
		if event.Type == deploy.Modified {
			line = fmt.Sprint(event.New.GetName(), " ", size(event.Old), "-", size(event.New))
			brought = size(event.Old) != size(event.New)
		}
		if listing {
			line += " listed"
		}
		l.events = append(l.events, line)
		return brought
	}}
}

func (l *looks) tell(event deploy.Event) {
	l.told = append(l.told, fmt.Sprint(event.Type, " ", event.New.Object["size"]))
}

func sized(name string, size int) *unstructured.Unstructured {
	obj := widget(name)
	obj.Object["size"] = size
	return obj
}

func TestInbox(t *testing.T) {
	t.Parallel()
	// updates are those of one object from one size to the next.
	updates := func(b *inbox, w *watcher, name string, sizes ...int) {
		before := sized(name, sizes[0])
		for _, size := range sizes[1:] {
			after := sized(name, size)
			b.add(w, deploy.Event{Type: deploy.Modified, Old: before, New: after}, false)
			before = after
		}
	}
	for reason, row := range map[string]struct {
		apart bool
		add   func(b *inbox, w *watcher)
		want  []string
	}{
		"one is looked at": {false, func(b *inbox, w *watcher) { updates(b, w, "a", 1, 2) }, []string{"a 1-2"}},
		"what follows on one that counts is looked at as a whole": {false, func(b *inbox, w *watcher) { updates(b, w, "a", 1, 2, 3, 4, 5) },
			[]string{"a 1-2", "a 2-5"}},
		"what doesn't count is looked at one by one": {false, func(b *inbox, w *watcher) { updates(b, w, "a", 1, 1, 1, 2, 3, 4) },
			[]string{"a 1-1", "a 1-1", "a 1-2", "a 2-4"}},
		"there and back isn't nothing": {false, func(b *inbox, w *watcher) { updates(b, w, "a", 1, 2, 1) }, []string{"a 1-2", "a 2-1"}},
		"other objects keep their own": {false, func(b *inbox, w *watcher) {
			updates(b, w, "a", 1, 2, 3, 4)
			updates(b, w, "b", 1, 2, 3, 4)
		}, []string{"a 1-2", "a 2-4", "b 1-2", "b 2-4"}},
		"an object that is new, and changes at once": {false, func(b *inbox, w *watcher) {
			first, second, third := sized("a", 1), sized("a", 2), sized("a", 3)
			b.add(w, deploy.Event{Type: deploy.Added, New: first}, true)
			b.add(w, deploy.Event{Type: deploy.Modified, Old: first, New: second}, true)
			b.add(w, deploy.Event{Type: deploy.Modified, Old: second, New: third}, false)
		}, []string{"ADDED a listed", "a 1-3 listed"}},
		"its end is looked at by itself": {false, func(b *inbox, w *watcher) {
			first, second := sized("a", 1), sized("a", 2)
			b.add(w, deploy.Event{Type: deploy.Modified, Old: first, New: second}, false)
			b.add(w, deploy.Event{Type: deploy.Deleted, Old: second, New: second}, false)
			b.add(w, deploy.Event{Type: deploy.Added, New: first}, false)
		}, []string{"a 1-2", "DELETED a", "ADDED a"}},
		"who wants each gets each": {true, func(b *inbox, w *watcher) { updates(b, w, "a", 1, 2, 3, 4) }, []string{"a 1-2", "a 2-3", "a 3-4"}},
		"an update whose predecessor wasn't seen": {false, func(b *inbox, w *watcher) {
			updates(b, w, "a", 1, 2)
			updates(b, w, "a", 2, 3) // from another copy of that state
		}, []string{"a 1-2", "a 2-3"}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b, l := newInbox(), &looks{apart: row.apart}
				row.add(b, l.watcher())
				assert.Positive(t, b.size())
				ctx, cancel := context.WithCancel(t.Context())
				go b.run(ctx)
				require.NoError(t, b.drain(t.Context()))
				assert.Equal(t, row.want, l.events)
				synctest.Wait()
				assert.Zero(t, b.size())
				assert.Empty(t, b.latest, "nothing is kept")
				cancel()
				<-b.over
				require.ErrorIs(t, b.drain(t.Context()), errStopped)
				brief, end := context.WithTimeout(t.Context(), time.Second)
				defer end()
				b.over = nil
				require.ErrorIs(t, b.drain(brief), context.DeadlineExceeded, "nobody waits for longer than he may")
			})
		})
	}
}

// Who is told of each event is told, also of those that aren't looked at by themselves.
func TestInboxTellsEach(t *testing.T) {
	t.Parallel()
	b, l := newInbox(), &looks{}
	w, states := l.watcher(), []*unstructured.Unstructured{sized("a", 1), sized("a", 2), sized("a", 3), sized("a", 4)}
	b.add(w, deploy.Event{Type: deploy.Added, New: states[0]}, false)
	for i, after := range states[1:] {
		b.add(w, deploy.Event{Type: deploy.Modified, Old: states[i], New: after}, false)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go b.run(ctx)
	require.NoError(t, b.drain(t.Context()))
	assert.Equal(t, []string{"ADDED 1", "MODIFIED 2", "MODIFIED 3", "MODIFIED 4"}, l.told)
	assert.Equal(t, []string{"ADDED a", "a 1-4"}, l.events)
	cancel()
	<-b.over
}

// Two watchers of one object look each for themselves.
func TestInboxOfTwo(t *testing.T) {
	t.Parallel()
	b, one, other := newInbox(), &looks{}, &looks{}
	first, second := sized("a", 1), sized("a", 2)
	watchers := []*watcher{one.watcher(), other.watcher()}
	for _, w := range watchers {
		b.add(w, deploy.Event{Type: deploy.Added, New: first}, false)
	}
	for _, w := range watchers {
		b.add(w, deploy.Event{Type: deploy.Modified, Old: first, New: second}, false)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go b.run(ctx)
	require.NoError(t, b.drain(t.Context()))
	assert.Equal(t, []string{"ADDED a", "a 1-2"}, one.events)
	assert.Equal(t, one.events, other.events)
	cancel()
	<-b.over
}

// Whatever comes, and however fast: an object is brought if, and only if, one of its events counts.
func TestInboxLosesNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random, b := rand.New(rand.NewPCG(seed, 5)), newInbox()
		brought := map[deploy.Ref]bool{}
		w := &watcher{look: func(event deploy.Event, _ bool) bool {
			counts := event.Old == nil || event.Old.Object["size"] != event.New.Object["size"]
			brought[key(event.New.GetName())] = brought[key(event.New.GetName())] || counts
			return counts
		}}
		latest, want := map[string]*unstructured.Unstructured{}, map[deploy.Ref]bool{}
		for range 60 {
			name := fmt.Sprint(random.IntN(5))
			before, after := latest[name], sized(name, random.IntN(2))
			event := deploy.Event{Type: deploy.Modified, Old: before, New: after}
			if before == nil && random.IntN(2) == 0 { // half of them were there before
				before = sized(name, random.IntN(2))
				event.Old = before
			}
			if before == nil {
				event.Type = deploy.Added
			}
			want[key(name)] = want[key(name)] || before == nil || before.Object["size"] != after.Object["size"]
			latest[name] = after
			b.add(w, event, false)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go b.run(ctx)
		require.NoError(t, b.drain(t.Context()))
		require.Equal(t, want, brought, "seed %d", seed)
		cancel()
		<-b.over
	}
}
