package filter

import (
	"sync"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/labels"
)

func TestCombinations(t *testing.T) {
	t.Parallel()
	const first, second = "metadata: {generation: 1}", "metadata: {generation: 2}"
	e, d := Always(), Never()
	runRows(t, []row{
		{"watch 29: Enable", e, "", first, true},
		{"watch 29: Disable", d, "", first, false},
		{"watch 30: a list is AND", And(e, d), "", first, false},
		{"watch 30: all of a list", And(e, e), "", first, true},
		{"watch 30: a tuple is OR", Or(d, e), "", first, true},
		{"watch 30: none of a tuple", Or(d, d), "", first, false},
		{"watch 30: nested, and(or(e, d), e)", And(Or(e, d), e), "", first, true},
		{"watch 30: nested, and(or(d, d), e)", And(Or(d, d), e), "", first, false},
		{"watch 30: nested, or(and(e, d), and(e, e))", Or(And(e, d), And(e, e)), "", first, true},
		{"watch 30: no opinion at all is no, in a list", And(Generation(), Annotations()), "", first, false},
		{"watch 30: no opinion at all is no, in a tuple", Or(Generation(), Annotations()), "", first, false},
		{"watch 30: no opinion of one alone is no", Generation(), "", first, false},
		{"watch 30: an empty list", And(), "", first, true},
		{"watch 30: an empty tuple", Or(), "", first, true},
		{"watch 30: no opinion beside a yes", Or(Lifecycle(), Generation()), "", first, true},
		{"Not of a yes", Not(e), "", first, false},
		{"Not of a no", Not(d), "", first, true},
		{"nil refuses nothing in And", And(nil, e), "", first, true},
		{"nil refuses nothing in Or", Or(d, nil), "", first, true},
		{"nil refuses nothing in Not", Not(nil), "", first, false},
		{"nil refuses nothing in While", While(nil, Generation()), first, second, true},
	})
}

func TestWhile(t *testing.T) {
	t.Parallel()
	const (
		open   = "metadata: {generation: 1, labels: {app: shop}}"
		edited = "metadata: {generation: 2, labels: {app: shop}}"
		closed = "metadata: {generation: 2, labels: {app: bank}}"
		bare   = "metadata: {generation: 1}"
	)
	shops := While(Labels(labels.SelectorFromSet(labels.Set{"app": "shop"})), Or(Lifecycle(), Generation()))
	runRows(t, []row{
		{"watch 29: a change while it is so", shops, open, edited, true},
		{"watch 29: no change", shops, open, open, false},
		{"watch 29: a change while it isn't", shops, bare, closed, false},
		{"watch mistake 10: it begins to be so, and what changed before was refused", shops, closed, edited, true},
		{"watch mistake 12: from no labels at all", shops, bare, open, true},
		{"it ceases to be so", shops, open, closed, false},
		{"it comes so", shops, "", open, true},
		{"it comes so, which isn't among the changes", While(Labels(nil), Generation()), "", open, false},
		{"it goes, which isn't either", While(Labels(nil), Generation()), open, "", false},
		{"it comes otherwise", shops, "", closed, false},
		{"it goes", shops, open, "", true},
	})
}

func TestAsked(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		join   func(...Predicate) Predicate
		says   bool
		want   int
	}{
		{"watch mistake 12: And ends with the first no", And, false, 1},
		{"And asks on after a yes", And, true, 2},
		{"watch 30: Or ends with the first yes", Or, true, 1},
		{"Or asks on after a no", Or, false, 2},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			asked := 0
			counted := Predicate(func(deploy.Event) bool { asked++; return row.says })
			predicates := []Predicate{counted, counted}
			joined := row.join(predicates...)
			predicates[0], predicates[1] = nil, nil
			assert.Equal(t, row.says, joined(deploy.Event{}))
			assert.Equal(t, row.want, asked, "of those that were joined, whatever became of the slice")
		})
	}
}

func TestWithoutState(t *testing.T) {
	t.Parallel()
	t.Run("watch 28: the same event has the same answer, whatever was asked before or is at once", func(t *testing.T) {
		t.Parallel()
		before, after := of(t, "metadata: {generation: 1}"), of(t, "metadata: {generation: 2, annotations: {a: b}}")
		events := []deploy.Event{added(before), modified(before, after), modified(after, after), modified(after, before), deleted(after)}
		var askers sync.WaitGroup
		for name, predicate := range all() {
			var want []bool
			for _, event := range events {
				want = append(want, predicate(event))
			}
			for range 4 {
				askers.Go(func() {
					for i := range events {
						last := len(events) - 1 - i
						assert.Equal(t, want[last], predicate(events[last]), "%s of event %d", name, last)
					}
				})
			}
		}
		askers.Wait()
	})
}

// all is one of each kind of predicate, by name.
func all() map[string]Predicate {
	named, _ := Named("annotation", "")
	app, _ := labels.Parse("app,app notin (bank)")
	return map[string]Predicate{
		"Always": Always(), "Never": Never(), "Created": Created(), "Replaced": Replaced(), "Deletion": Deletion(), "Lifecycle": Lifecycle(),
		"Generation": Generation(), "WithoutGeneration": WithoutGeneration(), "ResourceVersion": ResourceVersion(),
		"Annotations": Annotations(), "UserAnnotations": UserAnnotations("a"), "Labels": Labels(app), "LabelsChanged": LabelsChanged(),
		"Finalizers": Finalizers(), "Content": Content(), "Field": Field("spec", "a", "0"), "Field of all": Field(), "ReadyReason": ReadyReason(), "Condition": Condition("Ready"),
		"Paused": Paused(""), "Unpaused": Unpaused(""), "UnlessPaused": UnlessPaused("", Generation()),
		"While": While(Labels(app), Content()), "Standard": Standard(), "Named": named,
		"Ignoring": Ignoring(Or(Annotations(), Field()), "a", "operkit.dev/lease-name"),
	}
}
