package main

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy/bystander"
	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"github.com/operkit/operkit/examples/internal/interposer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// chapter is a part of a guestbook's life.
type chapter struct {
	name  string
	begin func(w *world)
	over  func(w *world) bool
}

func life() []chapter {
	edit := func(body string) func(w *world) { return func(w *world) { w.Merge(v1.GuestbookKind, "hello", body) } }
	return []chapter{
		{"rollout", (*world).create, (*world).ready},
		{"update", edit(`{"spec":{"message":"Good evening!","image":"guestbook:2","size":3}}`), (*world).ready},
		{"redis disabled", edit(`{"spec":{"redis":{"enabled":false}}}`), (*world).ready},
		{"redis enabled", edit(`{"spec":{"redis":{"enabled":true}}}`), (*world).ready},
		{"deletion", func(w *world) { w.Delete(v1.GuestbookKind, "hello") }, (*world).empty},
	}
}

// chosen are the kills of an ordinary test run, as many of each chapter as matter most.
var chosen = map[string][]interposer.Write{
	"rollout":        interposer.Firsts("PATCH guestbooks/hello", "PATCH secrets/hello-redis", "PATCH deployments/hello-web"),
	"update":         interposer.Firsts("PATCH configmaps/hello-web"),
	"redis disabled": interposer.Firsts("DELETE statefulsets/hello-redis"),
	"deletion":       interposer.Firsts("DELETE deployments/hello-web"),
}

// TestKilledAtEveryWrite kills the operator at its writes, starts it anew, and compares what comes of it with
// an undisturbed life. By default it does so at six writes of which the answer gets lost; `make soak` does it
// at every write, also before it arrives.
func TestKilledAtEveryWrite(t *testing.T) {
	t.Parallel()
	want, writes := undisturbed(t)
	for n, chapter := range life() {
		moments, answers := chosen[chapter.name], []bool{true}
		if os.Getenv("OPERKIT_SOAK") != "" {
			moments, answers = writes[n], []bool{false, true}
			t.Logf("SOAK guestbook: %s: killed at each of %d writes, before and after it", chapter.name, len(moments))
		}
		for _, at := range moments {
			require.Contains(t, writes[n], at, "the undisturbed operator writes it")
			for _, answered := range answers {
				when := map[bool]string{false: "before", true: "after"}[answered]
				t.Run(fmt.Sprintf("%s, %s %s, no. %d", chapter.name, when, at.Request, at.Nth), func(t *testing.T) {
					t.Parallel()
					killed(t, n, at, answered, want[n])
				})
			}
		}
	}
}

// undisturbed lives through all chapters, and gives the state after each and the writes of each.
func undisturbed(t *testing.T) (states []map[string]string, writes [][]interposer.Write) {
	t.Helper()
	w := newWorld(t)
	between := w.interpose()
	w.start()
	for _, chapter := range life() {
		w.live(chapter)
		states, writes = append(states, w.steadyState()), append(writes, between.Seen())
	}
	require.Empty(t, states[len(states)-1], "the last state is an empty namespace")
	return states, writes
}

// steadyState is the state once the cluster has finished with what follows from ours, such as the end of Pods.
func (w *world) steadyState() map[string]string {
	w.t.Helper()
	var before map[string]string
	w.Eventually("the cluster comes to rest", func() bool {
		time.Sleep(time.Second)
		now := w.state()
		same := before != nil && maps.Equal(before, now)
		before = now
		return same
	})
	return before
}

// live plays a chapter to its end.
func (w *world) live(c chapter) {
	w.t.Helper()
	c.begin(w)
	w.Eventually(c.name+" ends", func() bool { return c.over(w) })
	w.AwaitQuiet(w.t, w.operator)
}

// killed lives up to the chapter n, in which the operator is killed at a write, and wants the chapter to end in
// the given state all the same.
func killed(t *testing.T, n int, at interposer.Write, answered bool, want map[string]string) {
	t.Helper()
	w := newWorld(t)
	between := w.interpose()
	victim := w.start()
	for _, before := range life()[:n] {
		w.live(before)
	}
	chapter := life()[n]
	if !between.Catch(at, answered, func() { chapter.begin(w) }, func() bool { return chapter.over(w) }) {
		// How often a status is written depends on what the operator sees of the Pods meanwhile.
		require.Equal(t, "PATCH guestbooks/hello/status", at.Request, "no. %d of it wasn't made", at.Nth)
		require.Greater(t, at.Nth, 1, "the status was never written")
		t.Logf("the status was written less than %d times", at.Nth)
		w.wantState(want)
		return
	}
	victim.Kill()
	between.Release()
	uids, password := w.uids(), w.secretPassword()

	w.start()
	w.Eventually(chapter.name+" ends", func() bool { return chapter.over(w) })
	w.AwaitQuiet(w.t, w.operator)
	w.wantState(want)
	for object, uid := range w.uids() {
		if before, existed := uids[object]; existed {
			assert.Equal(t, before, uid, "%s is the one from before the kill", object)
		}
	}
	if now := w.secretPassword(); password != "" && now != "" {
		assert.Equal(t, password, now, "the password that was stored stays")
	}
}

// wantState waits for a state: what the cluster makes of ours comes a little later.
func (w *world) wantState(want map[string]string) {
	w.t.Helper()
	got := w.state()
	for deadline := time.Now().Add(bystander.Patience); !maps.Equal(want, got) && time.Now().Before(deadline); got = w.state() {
		time.Sleep(50 * time.Millisecond)
	}
	assert.True(w.t, maps.Equal(want, got), "another state than undisturbed (-) is (+):\n%s", strings.Join(differences(want, got), "\n"))
}

// interpose lets operators that are started from now on reach the API server through an Interposer.
func (w *world) interpose() *interposer.Interposer {
	w.t.Helper()
	between := interposer.New(w.t, w.operator.Config, w.Namespace)
	w.config = between.Kubeconfig
	return between
}

// empty tells whether nothing is left of the guestbook.
func (w *world) empty() bool { return len(w.state()) == 0 }

// uids of all objects that the operator may write.
func (w *world) uids() map[string]types.UID {
	w.t.Helper()
	uids := map[string]types.UID{}
	for _, kind := range ours {
		for _, obj := range w.List(kind) {
			uids[kind.Kind+" "+obj.GetName()] = obj.GetUID()
		}
	}
	return uids
}

// secretPassword is the password as it is stored, empty when it isn't.
func (w *world) secretPassword() string {
	w.t.Helper()
	secret := w.Get(secrets, "hello-redis")
	if secret == nil {
		return ""
	}
	password, _, err := unstructured.NestedString(secret.Object, "data", "password")
	require.NoError(w.t, err)
	return password
}
