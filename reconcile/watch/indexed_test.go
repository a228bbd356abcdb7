package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// table is an index of ConfigMaps by name. The engine calls it for one event after the other.
type table struct {
	names map[string]string
	// slow is the time that each hundred events take.
	slow time.Duration
}

func (t *table) index(event deploy.Event) {
	if len(t.names)%100 == 99 {
		time.Sleep(t.slow)
	}
	if event.Type == deploy.Deleted || event.Type == deploy.Left {
		delete(t.names, event.New.GetName())
		return
	}
	t.names[event.New.GetName()] = event.New.GetResourceVersion()
}

func (t *table) of(kinds ...source.Indexed) source.Sources {
	return source.Sources{Indexed: append(kinds, source.Indexed{Kind: configMaps, Index: t.index})}
}

func TestIndexedKindIsComplete(t *testing.T) {
	t.Parallel()
	inBubble(t, "kinds 5: nothing is reconciled before an index of 5000 objects that come slowly is complete", func(w *world) {
		for i := range 5000 {
			w.create(child(fmt.Sprintf("c%04d", i)))
		}
		for i := range 10 {
			w.create(widget(fmt.Sprint(i)))
		}
		index := &table{names: map[string]string{}, slow: time.Second}
		w.declare(index.of())
		var seen []int
		w.do = func(context.Context, request.Request) (request.Result, error) {
			seen = append(seen, len(index.names))
			return request.Result{}, nil
		}
		engine := w.engine(Workers(1))
		w.run(engine)
		w.pass(40 * time.Second) // longer than declared kinds are waited for
		assert.Empty(w.t, w.taken())
		assert.ErrorIs(w.t, engine.State().Kinds[0].Reason, errUnread)
		w.pass(20 * time.Second)
		index.slow = 0
		assert.Len(w.t, w.taken(), 10)
		for _, n := range seen {
			assert.Equal(w.t, 5000, n)
		}
		w.delete(child("c0007"))
		w.create(child("new"))
		assert.Empty(w.t, w.settle(), "its events bring nobody")
		assert.Equal(w.t, []string{"", "5012"}, []string{index.names["c0007"], index.names["new"]})
	})
	for _, row := range []struct {
		reason         string
		refuse, behind error
		said           string
	}{
		{"kinds 6: a kind that isn't served holds the kind that asked, and only that", &deploy.KindUnknownError{Kind: configMaps}, nil,
			"its index isn't complete: watch ConfigMap: kind ConfigMap of v1 is not served by the cluster"},
		{"kinds 6: and so does one that may not be listed", nil, errors.New("configmaps is forbidden"),
			"its index isn't complete: configmaps is forbidden"},
	} {
		inBubble(t, row.reason, func(w *world) {
			w.unable(configMaps, row.refuse, row.behind)
			w.create(widget("a"))
			w.create(object(regions, "", "north"))
			index := &table{names: map[string]string{}}
			w.declare(index.of())
			engine, other := w.another()
			w.run(engine)
			w.pass(10 * time.Minute)
			assert.Empty(w.t, w.taken())
			assert.Equal(w.t, []string{"Region north"}, other.taken())
			kinds := engine.State().Kinds
			assert.Equal(w.t, widgets, kinds[2].Kind)
			require.ErrorContains(w.t, kinds[2].Reason, row.said)
			assert.Equal(w.t, 1, w.logs.Count(`msg="a kind can't be watched yet, waiting" kind=Widget reason="`+row.said), "said once")
			w.unable(configMaps, nil, nil)
			w.pass(5 * time.Second)
			assert.Equal(w.t, []string{"Widget shop/a"}, w.taken(), "it goes on by itself")
			assert.Nil(w.t, engine.State().Kinds[2].Reason)
		})
	}
	inBubble(t, "kinds 5: the controlled kind itself may be indexed, too", func(w *world) {
		for i := range 300 {
			w.create(widget(fmt.Sprint(i)))
		}
		known := map[string]bool{}
		w.declare(source.Sources{When: filter.Standard(), Indexed: []source.Indexed{{Kind: widgets, Index: func(event deploy.Event) {
			known[event.New.GetName()] = event.Type != deploy.Deleted
		}}}})
		w.do = func(_ context.Context, req request.Request) (request.Result, error) {
			assert.GreaterOrEqual(w.t, len(known), 300)
			assert.True(w.t, known[req.Key.Name], "never older than the event that brought the object")
			return request.Result{}, nil
		}
		engine := w.start(Workers(2))
		w.create(widget("new"))
		assert.Len(w.t, w.settle(), 301)
		assert.Equal(w.t, State{Workers: 2, Events: 301, Reconciles: 301, LastStart: engine.State().LastStart, Kinds: []KindState{{Kind: widgets}}},
			engine.State(), "with one subscription")
	})
	inBubble(t, "watch mistake 12: an index that panics is reported, and the next event comes", func(w *world) {
		w.create(child("a"))
		w.create(child("b"))
		w.create(widget("a"))
		calls := 0
		w.declare(source.Sources{Indexed: []source.Indexed{{Kind: configMaps, Index: func(deploy.Event) { calls++; panic("boom") }}}})
		w.start()
		assert.Equal(w.t, []string{"Widget shop/a"}, w.settle())
		assert.Equal(w.t, 2, calls)
		assert.Equal(w.t, 1, w.logs.Count(`msg="an index panicked: it may be incomplete" kind="ConfigMap indexed for Widget.example.dev" value=boom`))
	})
}

// starting is an external source that has to be ready first.
type starting struct {
	*journal
	start func(target source.Target) error
}

func (s starting) Start(_ context.Context, target source.Target) error { return s.start(target) }

func (s starting) Run(ctx context.Context, target source.Target) {
	s.note("run with %d", len(target.Keys()))
	<-ctx.Done()
}

// journal holds what happened, in its order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) note(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lines)
}

func TestStarter(t *testing.T) {
	t.Parallel()
	inBubble(t, "kinds 7: nothing is reconciled before an external source that has to start has started", func(w *world) {
		attempts, j := 0, &journal{}
		w.do = func(_ context.Context, req request.Request) (request.Result, error) {
			j.note("reconcile %s because %s", req.Key.Name, req.Triggers)
			return request.Result{}, nil
		}
		w.create(widget("a"))
		w.declare(source.Sources{External: []source.External{starting{j, func(target source.Target) error {
			switch attempts++; attempts {
			case 1:
				return errors.New("refused")
			case 2:
				panic("boom")
			}
			time.Sleep(time.Minute)
			target.Bring(deploy.Ref{Namespace: "shop", Name: "gone"})
			j.note("started at attempt %d", attempts)
			return nil
		}}}})
		engine := w.start(Workers(1))
		w.pass(30 * time.Second)
		assert.Empty(w.t, j.all())
		assert.Equal(w.t, 1, w.logs.Count(`reason="an external source doesn't start: refused"`))
		assert.Equal(w.t, 1, w.logs.Count(`reason="an external source doesn't start: panic: boom (indexed_test.go:`))
		assert.Equal(w.t, "an external source doesn't start: panic: boom (indexed_test.go)", testlog.WithoutLines(engine.State().Kinds[0].Reason.Error()))
		w.pass(time.Minute)
		assert.Equal(w.t, "started at attempt 3", j.all()[0])
		for _, line := range []string{"reconcile a because listed", "reconcile gone because external", "run with 1"} {
			assert.Contains(w.t, j.all(), line, "what was brought early waits")
		}
	})
}

func TestEarlyKeys(t *testing.T) {
	t.Parallel()
	inBubble(t, "kinds 7: early keys wait until the kind is watched", func(w *world) {
		w.unable(widgets, errors.New("no watch today"), nil)
		w.declare(source.Sources{External: []source.External{starting{&journal{}, func(target source.Target) error {
			target.Bring(key("early"))
			return nil
		}}}})
		w.start()
		w.pass(time.Minute)
		assert.Empty(w.t, w.taken())
		w.unable(widgets, nil, nil)
		w.pass(5 * time.Second)
		assert.Equal(w.t, []string{"Widget shop/early"}, w.taken())
	})
}
