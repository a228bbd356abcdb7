package main

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestOneIsUpgradedAndTheOtherStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.run(versions(t))
	w.create("home", "1.0.0", `{"port":8080}`)
	w.create("other", "1.0.0")
	w.settled("1.0.0")
	w.AwaitQuiet(t, w.operator)
	home, other := w.objects("home"), w.objects("other")
	require.ElementsMatch(t, wanted("home", "1.0.0"), names(home))
	told := w.toldOf("home")

	mark := w.Mark(t)
	w.upgrade("home", "1.1.0")
	w.Eventually("home is in 1.1.0", func() bool { return isIn(w.Get(sites, "home"), "1.1.0") })
	w.AwaitQuiet(t, w.operator)
	after := w.objects("home")
	assert.ElementsMatch(t, wanted("home", "1.1.0"), names(after))
	for _, kept := range []string{"Deployment/home", "ServiceAccount/home"} {
		assert.Equal(t, home[kept], after[kept], "%s is in both releases", kept)
	}
	assert.Equal(t, other, w.objects("other"), "the other site is what it was")
	written := w.written(mark)
	assert.GreaterOrEqual(t, written["patch sites/home/status"], 2, "the beginning and the end")
	delete(written, "patch sites/home/status")
	assert.Equal(t, map[string]int{
		"patch configmaps/home-content": 1, "patch deployments/home": 1, "patch services/home": 1, "delete configmaps/home-page": 1,
	}, written, "what is the same in both releases isn't written")
	port, _, err := unstructured.NestedSlice(w.Get(services, "home").Object, "spec", "ports")
	require.NoError(t, err)
	assert.Equal(t, int64(8080), port[0].(map[string]any)["port"], "what 1.0.0 didn't know is there for 1.1.0")
	assert.Contains(t, told(), "VersionChange: Version Change Started: [1.0.0] -> [1.1.0]")

	w.Eventually("the hooks of both have told", func() bool {
		notes := w.notes("home", "Published")
		return slices.Contains(notes, "by release 1.0.0") && slices.Contains(notes, "by release 1.1.0")
	})
	assert.Equal(t, []string{"by release 1.0.0"}, w.notes("other", "Published"))
	page := m.metrics(t)
	for _, want := range []string{
		`operkit_version_running{version="1.0.0"} 1`, `operkit_version_running{version="1.1.0"} 1`, `operkit_version_starts_total{version="1.0.0"} 1`,
		`operkit_version_failed_starts{version="1.1.0"} 0`, `operkit_version_sessions{version="1.1.0"} 0`, `operkit_version_calls_total{call="setup",version="1.0.0"} `,
		`operkit_version_calls_total{call="content",version="1.1.0"} `, `operkit_operator_info{operator="site-operator",version="1.1.0"} 1`,
	} {
		assert.Contains(t, page, "\n"+want)
	}

	mark = w.Mark(t)
	w.upgrade("home", "1.0.0")
	w.Eventually("home is back in 1.0.0", func() bool { return isIn(w.Get(sites, "home"), "1.0.0") })
	back := w.objects("home")
	assert.ElementsMatch(t, wanted("home", "1.0.0"), names(back))
	assert.Equal(t, home["Deployment/home"], back["Deployment/home"])
	assert.Equal(t, 1, w.written(mark)["delete services/home"])
	assert.Empty(t, w.Calls(t, w.operator).Forbidden(), "the rights of config/rbac suffice")
	require.Zero(t, m.Stop(t))
}

// toldOf gathers what the condition Updating of a site says, in its order, from now on.
func (w *world) toldOf(name string) (told func() []string) {
	w.t.Helper()
	var mu sync.Mutex
	var all []string
	subscription, err := w.api.View().Subscribe(w.t.Context(), sites, func(event deploy.Event) {
		if event.New.GetName() != name {
			return
		}
		condition := conditionOf(event.New, status.ConditionUpdating)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, condition.Reason+": "+condition.Message)
	})
	require.NoError(w.t, err)
	require.NoError(w.t, subscription.Synced(w.t.Context()))
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// notes are those of events with a reason about a site.
func (w *world) notes(site, reason string) (notes []string) {
	w.t.Helper()
	for _, event := range w.List(events) {
		about, _, _ := unstructured.NestedString(event.Object, "regarding", "name")
		if event.Object["reason"] == reason && about == site {
			note, _ := event.Object["note"].(string)
			notes = append(notes, note)
		}
	}
	return notes
}

// What can't be done leaves a site as it is, says why, and is no trouble for others.
func TestRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// Of 0.9.0 there is no source any more; what it rendered was what 1.0.0 does.
	directory := folder(t, "1.0.0", "1.1.0")
	require.NoError(t, os.Symlink("1.0.0", filepath.Join(directory, "0.9.0")))
	w.run(directory)
	for _, name := range []string{"jump", "unknown"} {
		w.create(name, "0.9.0")
	}
	w.settled("0.9.0")
	w.AwaitQuiet(t, w.operator)
	for _, row := range []struct{ reason, name, version, want string }{
		{"a jump that the release can't make", "jump", "1.1.0", "upgrade from 0.9.0 to 1.1.0: only 1.0.0 can take over what 0.9.0 has made: say that version first"},
		{"a version that there isn't", "unknown", "1.2.0", `there is no version "1.2.0": choose one of 0.9.0, 1.0.0, 1.1.0`},
		{"a version that leads out of the folder", "unknown", "../1.0.0", `there is no version "../1.0.0": choose one of 0.9.0, 1.0.0, 1.1.0`},
		{"no version", "unknown", "", "it names no version: choose one of 0.9.0, 1.0.0, 1.1.0"},
	} {
		mark, before := w.Mark(t), w.objects(row.name)
		w.upgrade(row.name, row.version)
		w.Eventually(row.reason+" is told", func() bool {
			return conditionOf(w.Get(sites, row.name), status.ConditionReady).Reason == string(status.ReadyConfigError)
		})
		w.AwaitQuiet(t, w.operator)
		site := w.Get(sites, row.name)
		assert.Contains(t, conditionOf(site, status.ConditionReady).Message, row.want, row.reason)
		assert.Equal(t, string(status.UpdatingErrored), conditionOf(site, status.ConditionUpdating).Reason, row.reason)
		assert.Equal(t, "0.9.0", versionOf(site), row.reason)
		assert.Equal(t, before, w.objects(row.name), "all objects stay")
		written := w.written(mark)
		delete(written, "patch sites/"+row.name+"/status")
		assert.Empty(t, written, row.reason)
	}
	for _, version := range []string{"1.0.0", "1.1.0"} {
		for _, name := range []string{"jump", "unknown"} {
			w.upgrade(name, version)
		}
		w.settled(version)
	}
	assert.ElementsMatch(t, wanted("jump", "1.1.0"), names(w.objects("jump")), "by way of 1.0.0 it is no jump")
}
