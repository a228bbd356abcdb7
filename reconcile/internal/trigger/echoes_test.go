package trigger

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func TestEchoes(t *testing.T) {
	t.Parallel()
	key := deploy.Ref{Name: "shop"}
	state := func(uid, version string) request.Revision {
		return request.Revision{UID: types.UID(uid), ResourceVersion: version}
	}
	event := func(kind deploy.EventType, s request.Revision) deploy.Event {
		obj := &unstructured.Unstructured{Object: map[string]any{}}
		obj.SetUID(s.UID)
		obj.SetResourceVersion(s.ResourceVersion)
		return deploy.Event{Type: kind, New: obj}
	}
	a1, a2, b1 := state("a", "1"), state("a", "2"), state("b", "1")
	for reason, row := range map[string]struct {
		during, after []deploy.Event
		wrote         []request.Revision
		// again: the end of the reconcile asks for another; brings are the later events that do.
		again  bool
		brings []bool
	}{
		"an own write, seen before the end":            {during: []deploy.Event{event(deploy.Added, a1)}, wrote: []request.Revision{a1}},
		"an own write, seen after the end":             {wrote: []request.Revision{a1}, after: []deploy.Event{event(deploy.Modified, a1)}, brings: []bool{false}},
		"once":                                         {wrote: []request.Revision{a1}, after: []deploy.Event{event(deploy.Modified, a1), event(deploy.Modified, a1)}, brings: []bool{false, true}},
		"somebody else's write, before the end":        {during: []deploy.Event{event(deploy.Modified, a2)}, wrote: []request.Revision{a1}, again: true},
		"beside an own one":                            {during: []deploy.Event{event(deploy.Modified, a1), event(deploy.Modified, a2)}, wrote: []request.Revision{a1}, again: true},
		"somebody else's write, after the end":         {wrote: []request.Revision{a1}, after: []deploy.Event{event(deploy.Modified, a2)}, brings: []bool{true}},
		"another object of that version":               {wrote: []request.Revision{a1}, after: []deploy.Event{event(deploy.Added, b1)}, brings: []bool{true}},
		"a deletion is never one's own write":          {during: nil, wrote: []request.Revision{a1}, after: []deploy.Event{event(deploy.Deleted, a1)}, brings: []bool{true}},
		"an event without a version":                   {wrote: []request.Revision{state("a", "")}, after: []deploy.Event{event(deploy.Modified, state("a", ""))}, brings: []bool{true}},
		"a reconcile that failed or wrote nothing":     {during: []deploy.Event{event(deploy.Modified, a1)}, again: true, after: []deploy.Event{event(deploy.Modified, a2)}, brings: []bool{true}},
		"several, in any order":                        {wrote: []request.Revision{a2, b1}, during: []deploy.Event{event(deploy.Added, b1)}, after: []deploy.Event{event(deploy.Modified, a2)}, brings: []bool{false}},
		"a state between, of two writes of one object": {wrote: []request.Revision{a2}, during: []deploy.Event{event(deploy.Added, a1)}, again: true, after: []deploy.Event{event(deploy.Modified, a2)}, brings: []bool{false}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			var e Echoes
			e.Begin(key)
			for _, event := range row.during {
				assert.True(t, e.HoldsBack(key, Owned, event))
			}
			assert.Equal(t, row.again, e.End(key, row.wrote, false) == request.Child)
			for i, event := range row.after {
				assert.Equal(t, row.brings[i], !e.HoldsBack(key, Owned, event), "event %d", i)
			}
			e.Begin(key)
			assert.Zero(t, e.End(key, nil, false))
			assert.Empty(t, e.keys, "at rest nothing is kept")
		})
	}
}

func TestEchoesOfWhatIsGone(t *testing.T) {
	t.Parallel()
	var e Echoes
	key := deploy.Ref{Name: "shop"}
	e.Begin(key)
	e.Forget(key)
	assert.Zero(t, e.End(key, []request.Revision{{UID: "a", ResourceVersion: "1"}}, false))
	assert.Empty(t, e.keys)
}

// Who owns an object and follows it, too, gets each of its events twice.
func TestEchoesOnBothWays(t *testing.T) {
	t.Parallel()
	key := deploy.Ref{Name: "shop"}
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetUID("a")
	obj.SetResourceVersion("1")
	event := deploy.Event{Type: deploy.Modified, New: obj}
	wrote := []request.Revision{{UID: "a", ResourceVersion: "1"}}
	var e Echoes
	e.Begin(key)
	assert.True(t, e.HoldsBack(key, Owned, event))
	assert.Zero(t, e.End(key, wrote, true))
	assert.True(t, e.HoldsBack(key, Followed, event), "after the end, on the other way")
	assert.False(t, e.HoldsBack(key, Followed, event), "once")
	assert.Empty(t, e.keys, "at rest nothing is kept")

	e.Begin(key)
	assert.True(t, e.HoldsBack(key, Followed, event))
	assert.True(t, e.HoldsBack(key, Owned, event))
	assert.Equal(t, request.Child|request.Followed, e.End(key, nil, true), "what others write comes on both ways")
	e.Begin(key)
	assert.True(t, e.HoldsBack(key, Followed, event))
	assert.Equal(t, request.Followed, e.End(key, nil, true))
	assert.Empty(t, e.keys)
}
