package memory

import (
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	tea     = deploy.Ref{Kind: schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Shop"}, Namespace: "market", Name: "tea"}
	door    = deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "market", Name: "door"}
	morning = time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)
)

func generation(n int64) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGeneration(n)
	return obj
}

func TestForget(t *testing.T) {
	t.Parallel()
	var m Memory
	m.Forget(tea)
	m.Look(tea, func(r *Resource) { assert.Empty(t, r.Count()) })
	assert.Zero(t, m.Len(), "looking remembers nothing")
	assert.Equal(t, standing.Tally{}, m.Tally(nil))
	m.Update(tea, func(r *Resource) {
		r.SetCount(Count{Standing: "settled", Version: "1", Components: [States]int32{2}, Contested: 1})
		r.Fail(generation(1))
		r.Pause("uid", "true")
	})
	other := tea
	other.Kind.Version = "v2"
	m.Look(other, func(r *Resource) {
		assert.Equal(t, standing.Settled, r.Count().Standing, "another version of the kind is the same resource")
	})
	states := []string{"good", "bad"}
	assert.Equal(t, standing.Tally{
		Resources: map[standing.Standing]int{standing.Settled: 1}, Components: map[string]int{"good": 2, "bad": 0}, Versions: map[string]int{"1": 1}, Contested: 1,
	}, m.Tally(states))
	m.Forget(tea)
	assert.Zero(t, m.Len())
	assert.Equal(t, standing.Tally{
		Resources: map[standing.Standing]int{}, Components: map[string]int{"good": 0, "bad": 0}, Versions: map[string]int{},
	}, m.Tally(states))
}

func TestPerSpec(t *testing.T) {
	t.Parallel()
	var r Resource
	assert.Equal(t, 1, r.Fail(generation(1)))
	assert.Equal(t, 2, r.Fail(generation(1)))
	assert.True(t, r.Advance(generation(1), 2))
	assert.False(t, r.Advance(generation(1), 2))
	assert.False(t, r.Advance(generation(1), 1))
	assert.Equal(t, 3, r.Fail(generation(1)))
	assert.Equal(t, 1, r.Fail(generation(2)), "another spec begins anew")
	assert.True(t, r.Advance(generation(2), 1))
	r.ForgetFailures()
	assert.Equal(t, 1, r.Fail(generation(2)))
	r.ForgetAdvance()
	assert.True(t, r.Advance(generation(2), 1))
}

func TestPause(t *testing.T) {
	t.Parallel()
	var r Resource
	assert.False(t, r.Pause("a", "true"))
	assert.False(t, r.Pause("a", "true"))
	r.PauseReported()
	assert.True(t, r.Pause("a", "true"))
	assert.False(t, r.Pause("b", "true"), "of another resource of that name")
	r.PauseReported()
	r.EndPause()
	assert.False(t, r.Pause("b", "true"))
}

func TestHangs(t *testing.T) {
	t.Parallel()
	var r Resource
	now := morning
	for _, row := range []struct {
		why, reason string
		after       time.Duration
		want        bool
	}{
		{"it waits for nothing", "", 0, false},
		{"the first report", "no disk", 0, true},
		{"the same again", "no disk", 29 * time.Minute, false},
		{"a reminder", "no disk", time.Minute, true},
		{"another reason right after it", "1 of 2 Pods", 59 * time.Second, false},
		{"another reason later", "1 of 2 Pods", time.Second, true},
		{"the first reason is another one too", "no disk", time.Minute, true},
	} {
		now = now.Add(row.after)
		assert.Equal(t, row.want, r.Hangs(row.reason, now, time.Minute, 30*time.Minute), row.why)
	}
}

func TestObjectsAreForgotten(t *testing.T) {
	t.Parallel()
	var r Resource
	r.Pruned(1, door, morning)
	r.Pruned(1, door, morning)
	r.Pruned(1, door, morning)
	assert.Equal(t, map[deploy.Ref]Fight{door: {Rests: true, Left: prunePause}}, r.Fought(morning))
	assert.Equal(t, map[deploy.Ref]Fight{door: {Left: prunePeace - prunePause}}, r.Fought(morning.Add(prunePause)))
	assert.Empty(t, r.Fought(morning.Add(prunePeace)), "it has stayed away")
	r.Pruned(2, tea, morning)
	assert.Empty(t, r.Fought(morning), "another generation begins anew")
	assert.Len(t, r.objects, 1)
	r.Pruned(2, door, morning.Add(pruneWindow+1))
	assert.Len(t, r.objects, 1, "and what is long ago is forgotten")
	assert.Zero(t, r.Created(door, nil, false))
	assert.Empty(t, r.objects[door].pruned, "this process renders it again")
	assert.Zero(t, r.Created(tea, 5, true))
	assert.Equal(t, 1, r.Created(tea, 5, true))
	r.KeepCreated(func(deploy.Ref) bool { return true })
	assert.Equal(t, 2, r.Created(tea, nil, true))
	assert.Zero(t, r.Created(tea, nil, true), "it hasn't finished")
	assert.True(t, r.Watches(tea))
	r.Finished(tea)
	assert.Equal(t, 3, r.Created(tea, nil, true))
	r.KeepCreated(func(deploy.Ref) bool { return false })
	assert.Empty(t, r.objects)
}
