package main

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/examples/buckets/cloud"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// memoryChapter is a part of the life of a bucket in memory, which lasts a minute.
type memoryChapter struct {
	name  string
	begin func(s *scene)
}

var memoryLife = []memoryChapter{
	{"create", (*scene).create},
	{"publish", func(s *scene) { s.set("public", true) }},
	{"new quota", func(s *scene) { s.set("quota", "7Gi") }},
	{"both", func(s *scene) {
		s.set("public", false)
		s.set("quota", "8Gi")
	}},
	{"restart", func(s *scene) { s.Restart() }},
	{"delete", func(s *scene) { s.Delete(photos) }},
}

// memoryState is what a chapter ends with: the buckets in the cloud, and the one in the cluster.
type memoryState struct {
	cloud      map[string]cloud.Bucket
	spec       any
	finalizers []string
}

// mortal is a scene whose process dies at a request to the cloud.
type mortal struct {
	*scene
	// requests counts the requests. isDead: the process was killed at a request, and isn't restarted yet.
	requests atomic.Int64
	isDead   atomic.Bool
	// lived is the number of chapters so far.
	lived int
}

// newMortal returns a scene whose process is killed at a request, 1 for the first one, 0 for none. Nothing arrives of
// what a killed process sends after that.
func newMortal(t *testing.T, at int, killed fate) *mortal {
	t.Helper()
	m := &mortal{scene: newScene(t)}
	m.change(func(string) fate {
		switch {
		case m.isDead.Load() || m.Killed():
			return lost
		case int(m.requests.Add(1)) != at:
			return arrives
		}
		m.isDead.Store(true)
		return killed
	})
	return m
}

// live lives through the next chapter.
func (m *mortal) live() memoryState {
	m.t.Helper()
	memoryLife[m.lived].begin(m.scene)
	m.lived++
	m.Advance(time.Minute)
	if m.isDead.Load() {
		m.isDead.Store(false)
		m.Restart()
		m.Advance(time.Minute)
	}
	state := memoryState{cloud: m.Buckets()}
	if b := m.Get(photos); b != nil {
		state.spec, state.finalizers = b.Object["spec"], b.GetFinalizers()
	}
	return state
}

// is lives through chapters, which have to end in these states.
func (m *mortal) is(states []memoryState) {
	m.t.Helper()
	for _, want := range states {
		assert.Equal(m.t, want, m.live(), memoryLife[m.lived-1].name)
	}
}

// TestBucketsKilledInMemory kills the operator before and after each of its writes to the API server, and before and
// after each of its requests to the cloud. The end of each chapter is the same as without that.
func TestBucketsKilledInMemory(t *testing.T) {
	t.Parallel()
	var states []memoryState
	var writes, requests []int
	undisturbed := newMortal(t, 0, arrives)
	for range memoryLife {
		states = append(states, undisturbed.live())
		writes, requests = append(writes, len(undisturbed.writes())), append(requests, len(undisturbed.seen()))
	}
	assert.Equal(t, []int{2, 0, 0, 0, 0, 1}, writes)
	assert.Equal(t, []int{6, 2, 6, 6, 2, 1}, requests)
	assert.Equal(t, map[string]cloud.Bucket{"default.photos": {Region: "north", Quota: 8 << 30}}, states[3].cloud)
	assert.Equal(t, memoryState{cloud: map[string]cloud.Bucket{}}, states[5])
	all := 0
	for n, chapter := range memoryLife {
		for at := 1; at <= writes[n]; at++ {
			for _, answered := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, write %d, which arrives: %t", chapter.name, at, answered), func(t *testing.T) {
					t.Parallel()
					m := newMortal(t, 0, arrives)
					m.is(states[:n])
					m.Kill(at, answered)
					m.is(states[n : n+1])
				})
			}
		}
		for at := 1; at <= requests[n]; at++ {
			all++
			nth := all
			for killed, when := range map[fate]string{lost: "before", unknown: "after"} {
				t.Run(fmt.Sprintf("%s, %s request %d", chapter.name, when, at), func(t *testing.T) {
					t.Parallel()
					m := newMortal(t, nth, killed)
					m.is(states[:n])
					require.Less(t, int(m.requests.Load()), nth)
					m.is(states[n : n+1])
					require.GreaterOrEqual(t, int(m.requests.Load()), nth)
				})
			}
		}
	}
	t.Logf("SOAK buckets: killed in memory at each of %d writes and %d requests to the cloud, before and after it", 3, all)
}
