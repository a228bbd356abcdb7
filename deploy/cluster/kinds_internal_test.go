package cluster

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestPauseBetweenDiscoveries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &store{ctx: t.Context()}
		d := newDefinitions(s)
		var pauses []time.Duration
		delay := firstTry
		for range 8 {
			began := time.Now()
			delay = d.pause(t.Context(), d.changes(anyGroup), delay)
			pauses = append(pauses, time.Since(began))
		}
		assert.Equal(t, firstTry, pauses[0])
		assert.Equal(t, 2*firstTry, pauses[1])
		assert.Equal(t, longestTry, pauses[7], "without a watch of definitions the looks become rare")

		changed := d.changes(anyGroup)
		began := time.Now()
		go func() {
			time.Sleep(time.Second)
			obj := &unstructured.Unstructured{}
			obj.SetName("movers.example.dev")
			s.resources = &resources{}
			d.observe(deploy.Event{Type: deploy.Added, New: obj})
		}()
		next := d.pause(t.Context(), changed, longestTry)
		assert.Equal(t, time.Second+settling, time.Since(began), "a change is followed soon")
		assert.Equal(t, firstTry, next, "and looked after, since discovery lags behind")
	})
}

func TestTogether(t *testing.T) {
	t.Parallel()
	kind := func(group, version, name string) deploy.ServedKind {
		return deploy.ServedKind{Kind: schema.GroupVersionKind{Group: group, Version: version, Kind: name}}
	}
	before := []deploy.ServedKind{kind("a", "v1", "A"), kind("b", "v2", "B"), kind("b", "v1", "B"), kind("c", "v1", "C")}
	now := []deploy.ServedKind{kind("a", "v1", "A"), kind("a", "v1", "New"), kind("c", "v1", "C")}
	assert.Equal(t, []deploy.ServedKind{kind("a", "v1", "A"), kind("a", "v1", "New"), kind("b", "v2", "B"), kind("b", "v1", "B"), kind("c", "v1", "C")},
		together(now, before), "what doesn't answer is still there")
}
