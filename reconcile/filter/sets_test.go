package filter

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNamed(t *testing.T) {
	t.Parallel()
	const (
		before  = "{metadata: {generation: 1, resourceVersion: '1'}, spec: {a: 1}}"
		spec    = "{metadata: {generation: 2, resourceVersion: '3'}, spec: {a: 2}}"
		status  = "{metadata: {generation: 1, resourceVersion: '2'}, spec: {a: 1}, status: {a: 1}}"
		marked  = "{metadata: {generation: 1, resourceVersion: '2', annotations: {a: b}}, spec: {a: 1}}"
		cluster = "{metadata: {generation: 1, resourceVersion: '2', annotations: {x.k8s.io/y: z}}, spec: {a: 1}}"
		paused  = "{metadata: {generation: 1, resourceVersion: '1', annotations: {example.dev/pause-execution: 'true'}}, spec: {a: 1}}"
		edited  = "{metadata: {generation: 2, resourceVersion: '2', annotations: {example.dev/pause-execution: 'true'}}, spec: {a: 2}}"
		data    = "{metadata: {resourceVersion: '1'}, data: {a: b}}"
		newData = "{metadata: {resourceVersion: '2'}, data: {a: c}}"
		labels  = "{metadata: {resourceVersion: '2', labels: {a: b}}, data: {a: b}}"
	)
	for _, event := range []struct {
		reason, before, after     string
		usual, annotation, byUser bool
	}{
		{"watch 31: a creation", "", before, true, true, true},
		{"watch 31: an end", before, "", true, true, true},
		{"watch 31: a new spec", before, spec, true, true, true},
		{"watch 31: a status", before, status, false, false, false},
		{"watch 31: content of an object without a generation", data, newData, true, true, true},
		{"watch 31: nothing but a label of one", data, labels, false, false, false},
		{"watch 31: a user's annotation", before, marked, false, true, true},
		{"watch 31: a cluster's annotation", before, cluster, false, true, false},
		{"watch 31: an object that is paused", paused, edited, false, false, false},
		{"the beginning of a pause, which is to be shown", before, edited, true, true, true},
		{"an object that is paused from the start", "", paused, true, true, true},
		{"watch mistake 10: the end of the pause", edited, spec, true, true, true},
		{"watch 31: a repetition", before, before, false, false, false},
	} {
		for name, want := range map[string]bool{"": event.usual, "default": event.usual, "annotation": event.annotation, "user-annotation": event.byUser} {
			predicate, err := Named(name, "example.dev")
			require.NoError(t, err)
			runRows(t, []row{{event.reason + ", " + name, predicate, event.before, event.after, want}})
		}
	}
	t.Run("watch 31: a name that is none", func(t *testing.T) {
		t.Parallel()
		predicate, err := Named("my.Filter", "")
		assert.Nil(t, predicate)
		assert.EqualError(t, err, `filter "my.Filter": unknown name: use default, annotation or user-annotation`)
	})
}

func TestStandardAndLeases(t *testing.T) {
	t.Parallel()
	const (
		free     = "{metadata: {generation: 1, resourceVersion: '1'}, spec: {a: 1}}"
		taken    = "{metadata: {generation: 1, resourceVersion: '2', annotations: {operkit.dev/lease-name: me}}, spec: {a: 1}}"
		data     = "{metadata: {resourceVersion: '1', managedFields: [{manager: them}]}, data: {a: b}}"
		mine     = "{metadata: {resourceVersion: '2', annotations: {operkit.dev/lease-name: me, operkit.dev/lease-time: now}}, data: {a: b}}"
		renewed  = "{metadata: {resourceVersion: '3', annotations: {operkit.dev/lease-name: me, operkit.dev/lease-time: later}}, data: {a: b}}"
		edited   = "{metadata: {resourceVersion: '4', annotations: {operkit.dev/lease-name: me, operkit.dev/lease-time: later}}, data: {a: c}}"
		released = "{metadata: {resourceVersion: '5'}, data: {a: c}}"
		headless = "{metadata: {resourceVersion: '1'}}"
		hidden   = "{metadata: {resourceVersion: '2', annotations: {operkit.dev/lease-name: me}}}"
	)
	runRows(t, []row{
		{"watch 35, mistake 8: one that is taken", Standard(), free, taken, false},
		{"watch 35, mistake 8: one without a generation that is taken", Standard(), data, mine, false},
		{"watch 35, mistake 8: whose lock is renewed", Standard(), mine, renewed, false},
		{"watch 35, mistake 8: that is released", Standard(), renewed, data, false},
		{"watch 35: one that is edited while it is held", Standard(), renewed, edited, true},
		{"watch 35: one that is edited and released at once", Standard(), renewed, released, true},
		{"watch 35: one whose content isn't shown may have been edited at once", Standard(), headless, hidden, true},
		{"kinds 9: a finalizer that comes, where there is no generation", Standard(), data, "{metadata: {resourceVersion: '2', finalizers: [ours]}, data: {a: b}}", false},
		{"kinds 9: one that comes beside another change", Standard(), data, "{metadata: {resourceVersion: '2', finalizers: [ours]}, data: {a: c}}", true},
		{"kinds 9: one that takes the place of another", Standard(), "{metadata: {finalizers: [theirs]}, data: {a: b}}", "{metadata: {finalizers: [ours, other]}, data: {a: b}}", true},
		{"one whose content isn't shown may have been edited at once", Standard(), headless, "{metadata: {resourceVersion: '2', finalizers: [ours]}}", true},
	})
}

func TestIgnoring(t *testing.T) {
	t.Parallel()
	const (
		before = "{metadata: {generation: 1, resourceVersion: '1', annotations: {a: b}}, spec: {a: 1}}"
		noted  = "{metadata: {generation: 1, resourceVersion: '2', annotations: {a: b, example.dev/seen: now}}, spec: {a: 1}}"
		edited = "{metadata: {generation: 1, resourceVersion: '2', annotations: {a: c, example.dev/seen: now}}, spec: {a: 1}}"
		status = "{metadata: {generation: 1, resourceVersion: '2', annotations: {a: b, example.dev/seen: now}}, spec: {a: 1}, status: {b: 1}}"
		spec   = "{metadata: {generation: 2, resourceVersion: '2', annotations: {a: b, example.dev/seen: now}}, spec: {a: 2}}"
		data   = "{metadata: {resourceVersion: '1'}, data: {a: b}}"
		dated  = "{metadata: {resourceVersion: '2', annotations: {example.dev/seen: now}}, data: {a: b}}"
		other  = "{metadata: {resourceVersion: '2', annotations: {example.dev/seen: now}}, data: {a: c}}"
	)
	ignoring := Ignoring(Standard(), "example.dev/seen", "example.dev/done")
	runRows(t, []row{
		{"kinds 9: our own annotation comes", ignoring, before, noted, false},
		{"kinds 9: it goes", ignoring, noted, before, false},
		{"kinds 9: with our status in one event", ignoring, before, status, false},
		{"kinds 9: beside one of a user's", ignoring, before, edited, true},
		{"kinds 9: beside a new spec", ignoring, before, spec, true},
		{"kinds 9: where there is no generation", ignoring, data, dated, false},
		{"kinds 9: and a change of the data beside it", ignoring, data, other, true},
		{"kinds 9: what the predicate refuses is refused", Ignoring(Never(), "example.dev/seen"), before, spec, false},
		{"kinds 9: what passes all", Ignoring(nil, "example.dev/seen"), before, noted, false},
		{"kinds 9: of others it passes all", Ignoring(nil, "example.dev/seen"), before, "{metadata: {annotations: {a: c}}}", true},
		{"kinds 9: a creation is none of an annotation", ignoring, "", noted, true},
		{"kinds 9: nor is an end", ignoring, noted, "", true},
		{"one whose content isn't shown may have been edited at once", ignoring, "{metadata: {resourceVersion: '1'}}", "{metadata: {resourceVersion: '2', annotations: {example.dev/seen: now}}}", true},
	})
}
