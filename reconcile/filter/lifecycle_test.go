package filter

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
)

func TestLifecycle(t *testing.T) {
	t.Parallel()
	const (
		here     = "metadata: {name: x, uid: a, generation: 1}"
		leaving  = "metadata: {name: x, uid: a, generation: 1, deletionTimestamp: '2026-01-02T03:04:05Z'}"
		follower = "metadata: {name: x, uid: b, generation: 1}"
	)
	runRows(t, []row{
		{"watch 29: Created: it comes", Created(), "", here, true},
		{"Replaced: another one of its name", Replaced(), here, follower, true},
		{"Replaced: the same one", Replaced(), here, leaving, false},
		{"Replaced: a creation", Replaced(), "", here, false},
		{"watch 29: Lifecycle: another one of its name", Lifecycle(), here, follower, true},
		{"watch 29: DependentWatch lets pass another one of its name", Not(Created()), here, follower, true},
		{"watch 29: DependentWatch refuses what comes", Not(Created()), "", here, false},
		{"watch 29: Created: an update", Created(), here, here, false},
		{"watch 29: Created: it goes", Created(), here, "", false},
		{"watch 29: DependentWatch is Not(Created)", Not(Created()), here, here, true},
		{"watch 29: Deletion: it goes", Deletion(), here, "", true},
		{"watch 18: Deletion: the beginning of its end", Deletion(), here, leaving, true},
		{"Deletion: it was begun before", Deletion(), leaving, leaving, false},
		{"Deletion: it had begun when first seen", Deletion(), "", leaving, true},
		{"watch 29: Deletion: it comes", Deletion(), "", here, false},
		{"watch 29: Lifecycle: it comes", Lifecycle(), "", here, true},
		{"watch 29: Lifecycle: it goes", Lifecycle(), here, "", true},
		{"watch 18: Lifecycle: the beginning of its end", Lifecycle(), here, leaving, true},
		{"watch 29: Lifecycle: an update is none", Lifecycle(), here, "metadata: {name: x, uid: a, generation: 2}", false},
	})
	assert.True(t, Created()(deploy.Event{Type: deploy.Modified, New: of(t, here)}), "what was before isn't known")
	for _, state := range []string{here, leaving} {
		obj := of(t, state)
		for name, predicate := range map[string]Predicate{
			"Created": Created(), "Replaced": Replaced(), "Deletion": Deletion(), "Lifecycle": Lifecycle(), "Standard": Standard(),
			"Annotations": Annotations(), "Content": Content(), "Field": Field(), "Generation": Generation(),
		} {
			assert.False(t, predicate(deploy.Event{Type: deploy.Left, Old: obj, New: obj}), "%s: one that left the view: %s", name, state)
		}
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	const (
		running = "{metadata: {generation: 1, name: x}}"
		paused  = "{metadata: {generation: 1, annotations: {operkit.dev/pause-execution: 'true'}}}"
		until   = "{metadata: {generation: 1, annotations: {operkit.dev/pause-execution: '2026-01-02T03:04:05Z'}}}"
		later   = "{metadata: {generation: 1, annotations: {operkit.dev/pause-execution: '2026-01-02T04:04:05Z'}}}"
		denied  = "{metadata: {generation: 1, annotations: {operkit.dev/pause-execution: 'false'}}}"
		edited  = "{metadata: {generation: 2, annotations: {operkit.dev/pause-execution: 'true'}}}"
		leaving = "{metadata: {generation: 2, deletionTimestamp: '2026-01-02T03:04:05Z', annotations: {operkit.dev/pause-execution: 'true'}}}"
		freed   = "{metadata: {generation: 3, deletionTimestamp: '2026-01-02T03:04:05Z', annotations: {operkit.dev/pause-execution: 'true'}}}"
		theirs  = "{metadata: {annotations: {example.dev/pause-execution: 'True'}}}"
	)
	spec := UnlessPaused("", Or(Lifecycle(), Generation()))
	runRows(t, []row{
		{"watch 29: Paused: it is", Paused(""), "", paused, true},
		{"watch 29: Paused: it isn't", Paused(""), "", running, false},
		{"watch 29: Paused: by another domain", Paused("example.dev"), "", theirs, true},
		{"watch 29: Paused: not by a foreign one", Paused(""), "", theirs, false},
		{"watch 29: Paused: another value", Paused(""), "", denied, false},
		{"Paused: until a time, of whose coming no event tells", Paused(""), "", until, false},

		{"watch mistake 10: Unpaused: the annotation is taken off", Unpaused(""), paused, running, true},
		{"watch mistake 10: Unpaused: or says no", Unpaused(""), paused, denied, true},
		{"watch mistake 10: Unpaused: or a time", Unpaused(""), paused, until, true},
		{"Unpaused: a time that is taken off", Unpaused(""), until, running, true},
		{"Unpaused: another time", Unpaused(""), until, later, true},
		{"Unpaused: a time that becomes for good", Unpaused(""), until, paused, false},
		{"Unpaused: the same time", Unpaused(""), until, until, false},
		{"Unpaused: it pauses", Unpaused(""), running, paused, false},
		{"Unpaused: it goes on pausing", Unpaused(""), paused, edited, false},
		{"Unpaused: it wasn't paused", Unpaused(""), denied, running, false},
		{"Unpaused: a creation", Unpaused(""), "", running, false},

		{"watch 29: UnlessPaused: not paused", spec, running, "metadata: {generation: 2}", true},
		{"watch 29: UnlessPaused: no change that counts", spec, running, running, false},
		{"watch 29: UnlessPaused: a new spec of a paused one", spec, paused, edited, false},
		{"watch mistake 10: UnlessPaused: that spec passes with the end of the pause", spec, edited, "metadata: {generation: 2}", true},
		{"watch mistake 10: UnlessPaused: a spec that comes with the end of the pause", spec, paused, "metadata: {generation: 2}", true},
		{"watch 29: UnlessPaused: a paused one at the start", spec, "", paused, false},
		{"watch 29: UnlessPaused: it pauses with a new spec", spec, running, edited, false},
		{"watch 18: UnlessPaused: deletion goes on", spec, edited, leaving, true},
		{"watch 18: UnlessPaused: whatever the changes are", UnlessPaused("", Never()), paused, leaving, true},
		{"watch 18: UnlessPaused: and to its end", UnlessPaused("", Never()), leaving, "", true},
		{"watch 18: UnlessPaused: to its end", spec, leaving, "", true},
		{"watch 18: UnlessPaused: what changes on the way counts", spec, leaving, freed, true},
		{"watch 18: UnlessPaused: what doesn't count doesn't there either", spec, leaving, leaving, false},
		{"watch 18: UnlessPaused: a deletion that had begun before the start", spec, "", leaving, true},
	})
}
