package versions_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/versions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func sourcesOf(t testing.TB, pool *versions.Pool) source.Sources {
	t.Helper()
	require.Len(t, pool.Controllers(), 1)
	sources, err := source.Of(pool.Controllers()[0])
	require.NoError(t, err)
	return sources
}

// changed is the event of an object with labels that has changed.
func changed(kind schema.GroupVersionKind, labels map[string]string) deploy.Event {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(kind)
	obj.SetName("it")
	obj.SetNamespace("test")
	obj.SetGeneration(1)
	obj.SetResourceVersion("1")
	obj.SetLabels(labels)
	next := obj.DeepCopy()
	next.SetResourceVersion("2")
	return deploy.Event{Type: deploy.Modified, Old: obj, New: next}
}

// keys are those that a mapped source of a kind brings.
func keys(t testing.TB, sources source.Sources, kind schema.GroupVersionKind, labels map[string]string) (names []string) {
	t.Helper()
	for _, mapped := range sources.Mapped {
		if mapped.Kind == kind {
			assert.Nil(t, mapped.When, "whether an event counts is asked with its keys")
			for _, key := range mapped.Keys(changed(kind, labels)) {
				names = append(names, key.Name)
			}
		}
	}
	return names
}

// What any version looks at is looked at, and what an event means is for each of them to say.
func TestSourcesAreThoseOfAllVersions(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "lab", "1.0.0", "2.0.0"))
	sources := sourcesOf(t, pool)
	for _, row := range []struct {
		reason string
		counts map[string]string
		want   bool
	}{
		{"it counts for one", map[string]string{"counts": "1.0.0"}, true},
		{"it counts for the other", map[string]string{"counts": "2.0.0"}, true},
		{"it counts for none", map[string]string{"counts": "3.0.0"}, false},
		{"a predicate panics: it counts", map[string]string{"does": "panic"}, true},
	} {
		assert.Equal(t, row.want, sources.When(changed(labs, row.counts)), row.reason)
		require.Equal(t, configMaps, sources.Owned[0].Kind)
		assert.Equal(t, row.want, sources.Owned[0].When(changed(configMaps, row.counts)), "%s, of what it owns", row.reason)
	}
	require.Len(t, sources.Owned, 2)
	assert.Equal(t, deployments, sources.Owned[1].Kind)
	assert.True(t, sources.Owned[1].When(changed(deployments, nil)), "the one that owns it has no filter, and the other doesn't own it")
	calls := of(t, pool, "1.0.0").Calls
	assert.True(t, sources.Owned[1].When(changed(deployments, nil)))
	assert.Equal(t, calls, of(t, pool, "1.0.0").Calls, "who has nothing to say isn't asked")

	require.Len(t, sources.Mapped, 2)
	assert.Empty(t, keys(t, sources, secrets, nil))
	assert.Equal(t, []string{"tea-1.0.0", "tea-2.0.0"}, keys(t, sources, secrets, map[string]string{"lab": "tea"}), "each says whom it concerns")
	assert.Equal(t, []string{"tea-1.0.0", "tea-2.0.0", "tea-2.0.0"}, keys(t, sources, secrets, map[string]string{"lab": "tea", "counts": "2.0.0"}),
		"a second source of the kind, with a filter")
	assert.Equal(t, []string{"tea-2.0.0"}, keys(t, sources, nodes, map[string]string{"lab": "tea"}))
	require.Len(t, sources.External, 1)
}

// A version without a filter is one with the filter that everybody has.
func TestStandardFilter(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "tower", "1.0.0"))
	sources := sourcesOf(t, pool)
	same := changed(houses, nil)
	assert.False(t, sources.When(same), "only the status has changed")
	same.New.SetGeneration(2)
	assert.True(t, sources.When(same))
	assert.Empty(t, pool.Report()[0].Calls, "for which nobody is asked")
}

// Events while a version doesn't run, or doesn't answer, aren't lost: they count, and concern all that it describes.
func TestEventsThatAVersionDoesntSee(t *testing.T) {
	t.Parallel()
	t.Run("it doesn't run", func(t *testing.T) {
		t.Parallel()
		written := &logs{}
		options := folder(t, "lab", "1.0.0", "1.1.0")
		options.Logger = written.logger(slog.LevelInfo)
		pool := start(t, options)
		sources := sourcesOf(t, pool)
		w := newWorld(t, pool.Controllers()[0])
		for name, version := range map[string]string{"a": "1.0.0", "b": "1.0.0", "c": "1.1.0", "moved": "1.0.0", "deleted": "1.0.0"} {
			w.put(t, lab(name, map[string]any{"version": version}))
			require.NoError(t, w.persist(t.Context(), name))
		}
		w.put(t, lab("moved", map[string]any{"version": "1.1.0"}))
		require.NoError(t, w.persist(t.Context(), "moved"))
		gone := changed(labs, nil)
		gone.Type = deploy.Deleted
		gone.New.SetName("deleted")
		sources.When(gone)
		assert.False(t, sources.When(changed(labs, nil)))

		assert.True(t, sources.When(changed(labs, map[string]string{"does": "die"})), "it dies of it")
		soon(t, func() bool { return len(running(pool)) == 1 }, "it has ended")
		kill(t, of(t, pool, "1.1.0").PID)
		soon(t, func() bool { return len(running(pool)) == 0 }, "and so has the other one")
		assert.True(t, sources.When(changed(labs, nil)), "whoever is started for it sees for itself")
		assert.True(t, sources.Owned[0].When(changed(configMaps, nil)))
		assert.ElementsMatch(t, []string{"a", "b", "c", "moved"}, keys(t, sources, secrets, nil), "all that may be meant, and is there")
		require.NoError(t, w.persist(t.Context(), "c"))
		assert.ElementsMatch(t, []string{"a", "b"}, keys(t, sources, secrets, nil), "of the one that doesn't run")
		line := written.line(t, "a version can't evaluate an event: the event counts")
		require.NotNil(t, line)
		assert.Equal(t, "Lab", line["kind"])
	})
	t.Run("it takes too long", func(t *testing.T) {
		t.Parallel()
		pool := start(t, folder(t, "lab", "1.0.0"))
		sources := sourcesOf(t, pool)
		w := newWorld(t, pool.Controllers()[0])
		w.put(t, lab("a", map[string]any{"version": "1.0.0"}))
		require.NoError(t, w.persist(t.Context(), "a"))
		assert.False(t, sources.When(changed(labs, nil)))
		began := time.Now()
		assert.True(t, sources.When(changed(labs, map[string]string{"does": "sleep"})))
		assert.Equal(t, []string{"a"}, keys(t, sources, secrets, nil))
		for range 100 {
			assert.True(t, sources.Owned[0].When(changed(configMaps, nil)))
		}
		assert.Less(t, time.Since(began), 4*time.Second, "it isn't waited for again and again")
		_, err := w.reconcile(t.Context(), "a")
		assert.NoError(t, err, "for all else it is there")
	})
}

// brought is a target that keeps what it is brought.
type brought struct {
	known []deploy.Ref

	mu     sync.Mutex
	names  map[string]int
	failed map[string]int
}

func newBrought(known ...deploy.Ref) *brought {
	return &brought{known: known, names: map[string]int{}, failed: map[string]int{}}
}

func (b *brought) Keys() []deploy.Ref { return b.known }

func (b *brought) Bring(keys ...deploy.Ref) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, key := range keys {
		b.names[key.Name]++
	}
}

func (b *brought) Failed(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed[err.Error()]++
}

func (b *brought) count(name string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.names[name]
}

func (b *brought) failures(text string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	failures := 0
	for failed, n := range b.failed {
		if testlog.WithoutLines(failed) == text {
			failures += n
		}
	}
	return failures
}

// External sources run in each version that runs, also in one that begins later, until their context ends; and again in one that was ended.
func TestExternalSources(t *testing.T) {
	t.Parallel()
	options := folder(t, "lab", "1.0.0", "2.0.0")
	pool := start(t, options)
	sources := sourcesOf(t, pool)
	target := newBrought(deploy.Ref{Kind: labs, Namespace: "test", Name: "tea"})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan bool)
	go func() {
		sources.External[0].Run(ctx, target)
		close(ended)
	}()
	soon(t, func() bool { return target.failures("the line is noisy") == 1 }, "it runs")
	assert.Equal(t, 1, target.count("begun-2.0.0"))
	assert.Zero(t, target.count("begun-1.0.0"), "that one has none")
	assert.Equal(t, 1, target.count("known-tea"), "it may ask which resources there are")

	later := folder(t, "lab", "2.1.0")
	require.NoError(t, os.Rename(filepath.Join(later.Directory, "2.1.0"), filepath.Join(options.Directory, "2.1.0")))
	w := newWorld(t, pool.Controllers()[0])
	w.put(t, lab("l", map[string]any{"version": "2.1.0"}))
	require.NoError(t, w.persist(t.Context(), "l"))
	soon(t, func() bool { return target.count("begun-2.1.0") == 1 }, "one that begins later")

	kill(t, of(t, pool, "2.0.0").PID)
	soon(t, func() bool { return target.count("begun-2.0.0") == 2 }, "one that has ended is started again although nobody asks for it")
	kill(t, of(t, pool, "1.0.0").PID)
	soon(t, func() bool { return !of(t, pool, "1.0.0").Running }, "another one ends, too")
	time.Sleep(300 * time.Millisecond)
	assert.False(t, of(t, pool, "1.0.0").Running, "and is not started again, as it has nothing to bring")

	require.NoError(t, os.WriteFile(filepath.Join(options.Directory, "2.0.0", "panic"), nil, 0o600))
	kill(t, of(t, pool, "2.0.0").PID)
	soon(t, func() bool { return target.failures("it is run again: panic: the source panics (lab_test.go)") == 1 }, "a panic is told")
	soon(t, func() bool { return target.count("begun-2.0.0") == 4 }, "and it is run again")

	cancel()
	<-ended
	kill(t, of(t, pool, "2.1.0").PID)
	soon(t, func() bool { return of(t, pool, "2.1.0").Starts == 2 && of(t, pool, "2.1.0").Running }, "it is started again")
	time.Sleep(50 * time.Millisecond)
	assert.Equal(t, 1, target.count("begun-2.1.0"), "what was ended stays so")

	second := newBrought()
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	ended = make(chan bool)
	go func() {
		sources.External[0].Run(ctx, second)
		close(ended)
	}()
	soon(t, func() bool { return second.count("begun-2.0.0") == 1 && second.count("begun-2.1.0") == 1 }, "another engine may lead")
	pool.Close()
	cancel()
	<-ended
}
