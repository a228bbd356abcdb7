package engine

import (
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func TestRecent(t *testing.T) {
	t.Parallel()
	parent, now := deploy.Ref{Name: "tom"}, time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	child := func(uid string, generation int64) *unstructured.Unstructured {
		obj := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"size": int64(1), "none": map[string]any{}}}}
		obj.SetUID(types.UID(uid))
		obj.SetGeneration(generation)
		return obj
	}
	write := func(r *recent, action deploy.Action, before, after *unstructured.Unstructured, at time.Time) (known bool) {
		r.note(parent, deploy.Result{Action: action, Object: after}, before, at)
		_, known = r.of(parent, after.GetUID())
		return known
	}
	for _, row := range []struct {
		reason        string
		action        deploy.Action
		before, after *unstructured.Unstructured
		want          bool
	}{
		{"a creation", deploy.Created, nil, child("a", 1), true},
		{"a change of the spec", deploy.Configured, child("a", 1), child("a", 2), true},
		{"a change of metadata alone", deploy.Configured, child("a", 2), child("a", 2), false},
		{"a kind without generations", deploy.Configured, child("a", 0), child("a", 0), true},
		{"another object of that name", deploy.Recreated, child("old", 1), child("a", 1), true},
		{"no change", deploy.Unchanged, child("a", 1), child("a", 2), false},
		{"a deletion", deploy.Removed, child("a", 1), child("a", 2), false},
	} {
		assert.Equal(t, row.want, write(&recent{}, row.action, row.before, row.after, now), "desired 63: %s", row.reason)
	}
	var r recent
	write(&r, deploy.Created, nil, child("a", 1), now)
	noted, _ := r.of(parent, "a")
	assert.Equal(t, map[string]any{"size": int64(1)}, noted.status, "desired 63: empty maps are no status")
	write(&r, deploy.Created, nil, child("b", 1), now.Add(settling))
	assert.Len(t, r.parents[parent].of, 2)
	write(&r, deploy.Created, nil, child("c", 1), now.Add(settling+1))
	assert.Len(t, r.parents[parent].of, 2, "desired 63: what is older than the time that is waited is forgotten")
	r.forget(parent)
	assert.Empty(t, r.parents, "desired 63: nothing is kept of a parent that is gone")
	assert.Equal(t, now, r.begin(parent, now))
	write(&r, deploy.Created, nil, child("a", 1), now.Add(1))
	assert.Equal(t, now, r.begin(parent, now.Add(2)), "desired 63: the first reconcile counts")
	r.forget(parent)
	assert.Equal(t, now.Add(3), r.begin(parent, now.Add(3)), "desired 63: and anew for a parent that was forgotten")
}
