package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy/bystander"
	v1 "github.com/operkit/operkit/examples/from-kopf/api/v1"
	"github.com/operkit/operkit/examples/internal/interposer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// chapter is a part of a claim's life on a real API server.
type chapter struct {
	name  string
	begin func(w *world)
	over  func(w *world) bool
}

// chapters returns the life of a claim, with a note that can't be compressed.
func chapters(note string) []chapter {
	edit := func(body string) func(w *world) {
		return func(w *world) { w.Merge(v1.EphemeralVolumeClaimKind, "hello", body) }
	}
	measured := func(size string) func(w *world) bool {
		return func(w *world) bool { return w.claimText("status", "capacity") == size && w.isRecorded() }
	}
	return []chapter{
		{"create", func(w *world) { w.CreateYAML(user); w.CreateFile("config/sample.yaml") }, measured("1Gi")},
		{"grow", edit(`{"spec":{"size":"2Gi"}}`), measured("2Gi")},
		{"relabel", edit(`{"metadata":{"labels":{"owner":null,"zone":"a"}}}`), func(w *world) bool {
			return w.text("metadata", "labels", "zone") == "a" && w.text("metadata", "labels", "owner") == "" && w.isRecorded()
		}},
		{"incompressible spec", edit(`{"spec":{"size":"3Gi","note":"` + note + `"}}`), measured("3Gi")},
		{"delete", func(w *world) { w.Delete(podKind, "web"); w.Delete(v1.EphemeralVolumeClaimKind, "hello") }, func(w *world) bool {
			return w.Get(v1.EphemeralVolumeClaimKind, "hello") == nil && w.Get(pvcKind, "hello") == nil
		}},
	}
}

// chosen are the kills of an ordinary test run.
var chosen = map[string][]interposer.Write{
	"create":  interposer.Firsts("PATCH persistentvolumeclaims/hello", "PATCH ephemeralvolumeclaims/hello/status"),
	"relabel": interposer.Firsts("PATCH persistentvolumeclaims/hello"),
	"delete":  interposer.Firsts("PATCH ephemeralvolumeclaims/hello"),
}

// TestFromKopfKilled kills the operator at its writes, starts it anew, and compares what comes of it with an
// undisturbed life. By default it does so at four writes of which the response gets lost; `make soak` does it at every
// write, also before it arrives.
func TestFromKopfKilled(t *testing.T) {
	t.Parallel()
	life := chapters(noise(300 << 10))
	states, writes := undisturbed(t, life)
	for n, chapter := range life {
		moments, answers := chosen[chapter.name], []bool{true}
		if os.Getenv("OPERKIT_SOAK") != "" {
			moments, answers = writes[n], []bool{false, true}
			t.Logf("SOAK from-kopf: on the API server: %s: killed at each of %d writes, before and after it", chapter.name, len(moments))
		}
		for _, at := range moments {
			require.Contains(t, writes[n], at, "the undisturbed operator writes it")
			for _, arrives := range answers {
				when := map[bool]string{false: "before", true: "after"}[arrives]
				t.Run(fmt.Sprintf("%s, %s %s, no. %d", chapter.name, when, at.Request, at.Nth), func(t *testing.T) {
					t.Parallel()
					killed(t, life[:n+1], at, arrives, states[n])
				})
			}
		}
	}
}

// undisturbed lives through all chapters, and returns the state after each and the writes of each.
func undisturbed(t *testing.T, life []chapter) (states []string, writes [][]interposer.Write) {
	t.Helper()
	w := emptyWorld(t)
	between := w.interpose()
	w.start()
	for _, chapter := range life {
		w.live(chapter)
		seen := slices.DeleteFunc(between.Seen(), func(at interposer.Write) bool { return strings.HasPrefix(at.Request, "POST events") })
		states, writes = append(states, w.state()), append(writes, seen)
	}
	require.Empty(t, states[len(states)-1])
	return states, writes
}

// killed lives through a life in whose last chapter the operator is killed at a write, and wants it to end in the given
// state all the same.
func killed(t *testing.T, life []chapter, at interposer.Write, arrives bool, want string) {
	t.Helper()
	w := emptyWorld(t)
	between := w.interpose()
	w.start()
	for _, before := range life[:len(life)-1] {
		w.live(before)
	}
	last := life[len(life)-1]
	if !between.Catch(at, arrives, func() { last.begin(w) }, func() bool { return last.over(w) }) {
		// How many passes it takes depends on when the operator sees what the cluster does meanwhile.
		require.Greater(t, at.Nth, 1, "%s wasn't made", at.Request)
		t.Logf("it was made less than %d times", at.Nth)
	} else {
		w.process.Kill()
		between.Release()
		w.start()
	}
	w.Eventually(last.name+" ends", func() bool { return last.over(w) })
	w.AwaitQuiet(t, w.operator)
	for deadline := time.Now().Add(bystander.Patience); w.state() != want && time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond) // a busy machine is quiet at times
	}
	assert.Equal(t, want, w.state())
	assert.Empty(t, w.Calls(t, w.operator).Forbidden(), "its rights suffice")
}
