package watcher

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestConcurrencyOfAll(t *testing.T) {
	t.Run("watcher 22: a limit given to New is that of each watcher, unless it has its own", func(t *testing.T) {
		nothing := Simple(Funcs[unstructured.Unstructured]{})
		w := New[unstructured.Unstructured](items, Concurrency(2), Add("all", nothing), Add("own", nothing, Concurrency(3)))
		_, err := w.Add(Add("late", nothing))
		require.NoError(t, err)
		for i, want := range []int{2, 3, 2} {
			assert.Equal(t, want, w.roster.list()[i].limit, w.roster.list()[i].name)
		}
	})
}

// TestLateWatcher has events that come while a watcher is added.
func TestLateWatcher(t *testing.T) {
	for _, row := range []struct {
		reason string
		// observe brings an event whose watchers were listed before, or after the watcher was added.
		observe func(p *play, before, after []*member)
	}{
		{"an object whose first event knows nothing of it", func(p *play, before, _ []*member) {
			p.made().objects.observe(ref("a"), added(p.objects[ref("a")]), before, all(before))
		}},
		{"an object whose update comes before the others are brought", func(p *play, before, after []*member) {
			p.made().objects.observe(ref("a"), added(p.objects[ref("a")]), before, all(before))
			p.made().objects.observe(ref("a"), modified(p.objects[ref("a")], p.objects[ref("a")]), after, all(after))
		}},
		{"an object that is known", func(p *play, _, _ []*member) {
			p.made().Observe(added(p.objects[ref("a")]))
		}},
	} {
		t.Run("watcher 20: a watcher that is added at run time gets Add: "+row.reason, func(t *testing.T) {
			p := newPlay(t, map[string]any{"policy": map[string]any{"kind": "nil"}, "watchers": []any{map[string]any{"name": "w"}}})
			p.objects[ref("a")] = p.object(map[string]any{"name": "a", "namespace": "default", "generation": int64(1)})
			before := p.made().roster.list()
			p.add(Add("late", p.watcher(map[string]any{"name": "late"})), "late")
			row.observe(p, before, p.made().roster.list())
			p.pass(ref("a"))
			var calls []string
			for _, c := range p.calls {
				calls = append(calls, c.who+" "+c.action)
			}
			assert.Equal(t, []string{"w add", "late add"}, calls)
		})
	}
}

func (p *play) made() *dispatcher { return p.reconciler.(*dispatcher) }

// TestStripped has a cluster that changes what is written.
func TestStripped(t *testing.T) {
	for _, kind := range []string{"opinionated-reconciler", "opinionated-watcher"} {
		t.Run("watcher 61: a finalizer that the cluster doesn't store is a failure of "+kind, func(t *testing.T) {
			s := newSteps(t, map[string]any{"kind": kind, "patch": []any{"stripped", "stripped"}})
			out := s.step(map[string]any{"call": "add", "object": map[string]any{"name": "a", "namespace": "default", "generation": int64(1)}})
			assert.ErrorIs(t, out.Err, errUnkept)
		})
	}
}

// all are the answers of filters that pass.
func all(members []*member) []bool { return slices.Repeat([]bool{true}, len(members)) }
