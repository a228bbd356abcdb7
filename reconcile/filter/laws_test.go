package filter

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// drawn are values for any place of an object, so that some objects make sense and most don't.
func drawn(random *rand.Rand) any {
	values := []any{
		nil, "", "a", "true", "2026-01-02T03:04:05Z", int64(0), int64(1), 1.5, true, []any{}, []any{"a", int64(1)},
		map[string]any{}, map[string]any{"a": "b"}, map[string]any{"app": "shop"}, map[string]any{"app": int64(1)},
		map[string]any{"operkit.dev/pause-execution": "true"}, map[string]any{"x.k8s.io/y": "z"},
		map[string]any{"operkit.dev/lease-name": "me"}, map[string]any{"operkit.dev/lease-time": int64(1), "a": "b"},
		map[string]any{"a": []any{int64(1)}}, map[string]any{"conditions": []any{map[string]any{"type": "Ready", "reason": "Stable"}}},
	}
	return values[random.IntN(len(values))]
}

func drawnObject(random *rand.Rand) *unstructured.Unstructured {
	if random.IntN(20) == 0 {
		return nil
	}
	if random.IntN(20) == 0 {
		return &unstructured.Unstructured{}
	}
	metadata := map[string]any{}
	for _, key := range []string{"uid", "generation", "resourceVersion", "annotations", "labels", "finalizers", "deletionTimestamp"} {
		if random.IntN(3) == 0 {
			metadata[key] = drawn(random)
		}
	}
	obj := map[string]any{"metadata": metadata}
	for _, key := range []string{"metadata", "spec", "data", "status"} {
		if random.IntN(6) == 0 {
			obj[key] = drawn(random)
		}
	}
	return &unstructured.Unstructured{Object: obj}
}

func drawnEvent(random *rand.Rand) deploy.Event {
	types := []deploy.EventType{deploy.Added, deploy.Modified, deploy.Modified, deploy.Modified, deploy.Deleted, deploy.Left, "BOOKMARK", ""}
	event := deploy.Event{Type: types[random.IntN(len(types))], Old: drawnObject(random), New: drawnObject(random)}
	if random.IntN(4) == 0 {
		event.New = event.Old.DeepCopy()
	}
	return event
}

// drawnPredicate is one of all, or some joined.
func drawnPredicate(random *rand.Rand, depth int) Predicate {
	if depth > 0 && random.IntN(2) == 0 {
		a, b := drawnPredicate(random, depth-1), drawnPredicate(random, depth-1)
		return []Predicate{And(a, b), Or(a, b), Not(a), While(a, b), UnlessPaused("", a)}[random.IntN(5)]
	}
	simple := all()
	names := slices.Sorted(maps.Keys(simple))
	return simple[names[random.IntN(len(names))]]
}

func TestLaws(t *testing.T) {
	t.Parallel()
	t.Run("predicates are joined as in logic, whatever they are and of any event", testLaws)
}

func testLaws(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	said := map[bool]int{}
	for range 2000 {
		a, b, c, event := drawnPredicate(random, 2), drawnPredicate(random, 2), drawnPredicate(random, 2), drawnEvent(random)
		said[a(event)]++
		for law, sides := range map[string][2]Predicate{
			"twice not":                               {Not(Not(a)), a},
			"And is logic's":                          {And(a, b), func(e deploy.Event) bool { return a(e) && b(e) }},
			"Or is logic's":                           {Or(a, b), func(e deploy.Event) bool { return a(e) || b(e) }},
			"De Morgan of And":                        {Not(And(a, b, c)), Or(Not(a), Not(b), Not(c))},
			"De Morgan of Or":                         {Not(Or(a, b, c)), And(Not(a), Not(b), Not(c))},
			"the order is of no account":              {And(a, b, c), And(c, a, b)},
			"nor is it in Or":                         {Or(a, b, c), Or(b, c, a)},
			"groups may be opened":                    {And(a, And(b, c)), And(a, b, c)},
			"in Or too":                               {Or(Or(a, b), c), Or(a, b, c)},
			"And distributes":                         {And(a, Or(b, c)), Or(And(a, b), And(a, c))},
			"Or distributes":                          {Or(a, And(b, c)), And(Or(a, b), Or(a, c))},
			"a group of one":                          {Or(And(a)), a},
			"Always changes no And":                   {And(a, Always()), a},
			"Never changes no Or":                     {Or(a, Never()), a},
			"one or its opposite":                     {Or(a, Not(a)), Always()},
			"never both":                              {And(a, Not(a)), Never()},
			"While(nothing) is what changes does":     {While(Always(), a), a},
			"While that is never so lets none pass":   {While(Never(), a), Never()},
			"what While lets pass is as its state is": {And(While(b, a), b), While(b, a)},
		} {
			assert.Equal(t, sides[1](event), sides[0](event), "%s: %v", law, event)
		}
	}
	assert.Positive(t, said[true], "something is said of both kinds")
	assert.Positive(t, said[false])
}

func TestTotal(t *testing.T) {
	t.Parallel()
	t.Run("watch mistake 12: any event is answered, and left as it is", func(t *testing.T) {
		t.Parallel()
		random := rand.New(rand.NewPCG(3, 4))
		predicates := all()
		for range 2000 {
			event := drawnEvent(random)
			kept := deploy.Event{Type: event.Type, Old: event.Old.DeepCopy(), New: event.New.DeepCopy()}
			for name, predicate := range predicates {
				assert.NotPanics(t, func() { predicate(event) }, name)
			}
			assert.Equal(t, kept, event)
		}
	})
}

func FuzzTotal(f *testing.F) {
	f.Add(`{"metadata":{"labels":null,"annotations":1}}`, `{"metadata":[]}`)
	f.Add(`{"metadata":{"deletionTimestamp":"soon","generation":"x"}}`, `{"status":{"conditions":[{"type":["Ready"]}]}}`)
	f.Add(`{"spec":{"a":[[1]]}}`, `{"spec":{"a":{"0":1}}}`)
	f.Fuzz(func(t *testing.T, before, after string) {
		var old, latest map[string]any
		if json.Unmarshal([]byte(before), &old) != nil || json.Unmarshal([]byte(after), &latest) != nil {
			return
		}
		event := modified(&unstructured.Unstructured{Object: old}, &unstructured.Unstructured{Object: latest})
		for name, predicate := range all() {
			if And(predicate, Not(predicate))(event) {
				t.Errorf("%s says two things of %v", name, event)
			}
		}
		if Content()(modified(event.New, event.Old)) != Content()(event) {
			t.Errorf("content differs in one direction only: %v", event)
		}
	})
}
