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
	})
}
