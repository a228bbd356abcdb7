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
		assert.EqualError(t, err, `filter "my.Filter": there is none of that name: use default, annotation or user-annotation`)
	})
}
