package versions_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What a method of a version may do by itself, and what it is told where it may not.
func TestWhatAVersionMayDo(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "lab", "1.0.0"))
	for _, row := range []struct{ does, wrong string }{
		{"read all", ""},
		{"watch", ""},
		{"apply", "ConfigMap test/mine: can't be applied: a version that runs as a child can't write: add the object to a component"},
		{"create", "ConfigMap mine: can't be created: a version that runs as a child can't write"},
		{"update", "ConfigMap mine: can't be updated: a version that runs as a child can't write"},
		{"patch", "ConfigMap test/foreign: can't be patched: a version that runs as a child can't write"},
		{"subscribe", "a version that runs as a child can't subscribe to events: declare sources, or use Session.Follow"},
		{"delete what is foreign", "ConfigMap test/foreign: isn't ours to delete"},
		{"delete what was another", "ConfigMap test/l-note: changed since it was read: it has the uid"},
		{"delete what isn't there", "ConfigMap test/nobody: not found"},
		{"delete its own", ""},
		{"read from the background", "ConfigMap test/foreign: read outside of a session: pass on the context that the method was given"},
		{"panic", "panic: the lab explodes"},
		{"fail", "it doesn't work"},
	} {
		t.Run(row.does, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, pool.Controllers()[0])
			w.put(t, configMap("foreign", map[string]any{"of": "somebody"}))
			w.put(t, &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "key"}}})
			w.put(t, lab("l", map[string]any{"version": "1.0.0"}))
			_, err := w.reconcile(t.Context(), "l")
			require.NoError(t, err)
			note := w.get(t, configMaps, "l-note")
			w.put(t, lab("l", map[string]any{"version": "1.0.0", "build": row.does}))
			_, err = w.reconcile(t.Context(), "l", 5)
			if row.wrong == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, row.wrong)
			}
			assert.NotNil(t, w.get(t, configMaps, "foreign"), "somebody else's is left alone")
			if row.does != "delete its own" {
				assert.Equal(t, note.GetUID(), w.get(t, configMaps, "l-note").GetUID(), "what it owns stays")
			}
			if row.does == "read all" {
				assert.Equal(t, []string{"key key 1 1 Namespaced 1 true true"}, w.recorded("Read"))
			}
		})
	}
}

// watched notes what a session has watched.
type watched struct {
	mu   sync.Mutex
	said []string
}

func (w *watched) note(parts ...string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, strings.Join(parts, " "))
	return nil
}

func (w *watched) Own(_ context.Context, owner, of schema.GroupVersionKind) error {
	return w.note("own", owner.Kind, of.Kind)
}

func (w *watched) FollowAll(_ context.Context, owner deploy.Ref, kind schema.GroupVersionKind, namespace string, selector labels.Selector) error {
	return w.note("follow all", owner.String(), kind.Kind, namespace, selector.String())
}

func (w *watched) Follow(_ context.Context, owner deploy.Ref, ref deploy.Ref) error {
	return w.note("follow", owner.String(), ref.String())
}

// What a version wants to be told of is watched by its manager.
func TestWatching(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "lab", "1.0.0"))
	watcher := &watched{}
	w := newWorld(t, pool.Controllers()[0], reconcile.WithWatcher(watcher))
	w.put(t, lab("l", map[string]any{"version": "1.0.0", "setup": "watch"}))
	_, err := w.reconcile(t.Context(), "l")
	require.NoError(t, err)
	assert.Contains(t, watcher.said, "own Lab Secret")
	assert.Contains(t, watcher.said, "follow Lab test/l Secret test/key")
	assert.Contains(t, watcher.said, "follow all Lab test/l ConfigMap test colour=red")
	assert.Contains(t, watcher.said, "follow all Lab test/l Secret  ")
	assert.Contains(t, watcher.said, "own Lab ConfigMap", "and what it renders")
}

// A version that dies in the middle of a session is started again, and nothing is told of it.
func TestChildThatDiesDuring(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"setup", "build", "gate", "judge", "AfterDeploy", "AfterVerify", "Requeue", "finalize"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			options := folder(t, "lab", "1.0.0")
			pool := start(t, options)
			w := newWorld(t, pool.Controllers()[0])
			w.put(t, lab("l", map[string]any{"version": "1.0.0"}))
			require.NoError(t, w.persist(t.Context(), "l"))
			w.put(t, lab("l", map[string]any{"version": "1.0.0", "hooks": "yes", method: "die once"}))
			if method == "finalize" {
				require.NoError(t, w.memory.Port().Delete(t.Context(), deploy.Ref{Kind: labs, Namespace: "test", Name: "l"}, deploy.DeleteOptions{}))
			}
			before := w.get(t, labs, "l")
			calls := w.memory.Record()
			_, err := w.reconcile(t.Context(), "l")
			require.ErrorContains(t, err, "version 1.0.0: its process has ended: exit status 3")
			assert.True(t, request.Resolve(err).Passing)
			assert.True(t, request.Resolve(err).Quiet || method == "Requeue", "the log isn't bothered")
			if method != "Requeue" { // by then the status is written
				assert.Equal(t, before.Object["status"], w.get(t, labs, "l").Object["status"], "nor is anybody told")
			}
			require.FileExists(t, filepath.Join(options.Directory, "1.0.0", "died-l"))
			for _, call := range calls.Calls() {
				assert.NotEqual(t, "delete", string(call.Verb), "nothing is deleted")
			}
			// It does what it did once more; from now on it lives.
			w.put(t, lab("l", map[string]any{"version": "1.0.0"}))
			require.NoError(t, w.persist(t.Context(), "l"))
			assert.Zero(t, pool.Report()[0].InUse)
			if method == "finalize" {
				assert.Nil(t, w.get(t, labs, "l"))
				return
			}
			for _, name := range []string{"l-note", "l-built"} {
				assert.NotNil(t, w.get(t, configMaps, name))
			}
		})
	}
}

// A version that dies each time is told of in the end.
func TestChildThatDiesEachTime(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "lab", "1.0.0"))
	w := newWorld(t, pool.Controllers()[0], reconcile.MaxAttempts(1))
	w.put(t, lab("l", map[string]any{"version": "1.0.0", "setup": "die"}))
	for attempt := range 5 {
		_, err := w.reconcile(t.Context(), "l", attempt)
		require.ErrorContains(t, err, "version 1.0.0: its process has ended: exit status 3: the lab burns")
		assert.Equal(t, attempt < 3, w.get(t, labs, "l").Object["status"] == nil, "attempt %d", attempt)
		assert.False(t, request.IsPermanent(err), "that is nothing to give up for")
	}
}

// Others have nothing of what one session does.
func TestSessionsAreApart(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "lab", "1.0.0", "1.1.0"))
	w := newWorld(t, pool.Controllers()[0])
	experiments := []string{"", "panic", "fail", "wait for a precondition", "read all", "apply"}
	var all sync.WaitGroup
	for i := range 40 {
		name, does := "l"+itoa(i), experiments[i%len(experiments)]
		w.put(t, &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "key"}}})
		w.put(t, lab(name, map[string]any{"version": []string{"1.0.0", "1.1.0"}[i%2], "build": does}))
		all.Go(func() {
			for range 3 {
				_, err := w.reconcile(t.Context(), name)
				assert.Equal(t, does == "panic" || does == "fail" || does == "apply", err != nil, "%s: %v", does, err)
				note, _ := w.memory.View().Get(t.Context(), deploy.Ref{Kind: configMaps, Namespace: "test", Name: name + "-note"})
				if assert.NotNil(t, note) {
					assert.Equal(t, []string{"1.0.0", "1.1.0"}[i%2], note.Object["data"].(map[string]any)["version"])
				}
			}
		})
	}
	all.Wait()
	for _, report := range pool.Report() {
		assert.Zero(t, report.InUse)
		assert.Equal(t, 1, report.Starts)
	}
}

// Plan and Graph ask the version too, and do nothing.
func TestPlan(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "lab", "1.0.0"))
	w := newWorld(t, pool.Controllers()[0])
	resource := lab("l", map[string]any{"version": "1.0.0", "gate": "fail"})
	w.put(t, resource)
	resource = w.get(t, labs, "l")
	calls := w.memory.Record()
	plan, err := w.reconciler.Plan(t.Context(), resource)
	require.NoError(t, err)
	require.EqualError(t, plan.Err(), "component after: gate on component note: it doesn't work", "the version's gates are asked")
	plan, err = w.reconciler.Plan(t.Context(), resource, reconcile.OpenGates())
	require.NoError(t, err)
	require.NoError(t, plan.Err())
	var names []string
	for _, component := range plan.Components {
		for _, difference := range component.Differences {
			names = append(names, difference.Ref.Name)
		}
	}
	assert.Equal(t, []string{"l-note", "l-after", "l-built"}, names)
	graph, err := w.reconciler.Graph(t.Context(), resource)
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"note", "built", "after"}, graph.Topology())
	for _, call := range calls.Calls() {
		assert.True(t, call.DryRun || call.Verb == "get" || call.Verb == "list", "%v", call)
	}
	assert.Zero(t, pool.Report()[0].InUse)
	require.Empty(t, w.recorded("Read"))
}

// What is logged comes to the manager's log with the version, and with all that the manager's own lines about the session have.
func TestLogs(t *testing.T) {
	t.Parallel()
	written := &logs{}
	options := folder(t, "lab", "1.0.0")
	options.Logger = written.logger(slog.LevelInfo)
	pool := start(t, options)
	session := &logs{}
	w := newWorld(t, pool.Controllers()[0], reconcile.Logger(session.logger(slog.LevelInfo).With("replica", 7)))
	w.put(t, lab("l", map[string]any{"version": "1.0.0", "setup": "say"}))
	_, err := w.reconcile(t.Context(), "l")
	require.NoError(t, err)

	line := session.line(t, "hello")
	require.NotNil(t, line)
	assert.NotEmpty(t, line["reconcile"])
	object, _ := line["object"].(map[string]any)
	assert.Equal(t, "l", object["name"])
	delete(line, "reconcile")
	delete(line, "object")
	assert.Equal(t, map[string]any{
		"level": "INFO", "msg": "hello", "replica": 7.0, "version": "1.0.0", "room": "cellar", "heat.degrees": "21", "heat.dry": "true", "heat.inline": "x",
	}, line)
	assert.Equal(t, "WARN", session.line(t, "careful")["level"])
	assert.Equal(t, "safety", session.line(t, "careful")["channel"])
	assert.Nil(t, session.line(t, "whisper"), "it is below the level of the manager")
	assert.Nil(t, session.line(t, "quietly careful"))
	for _, printed := range []string{"this is printed", "this is printed to what was the standard output before", "this is an error"} {
		soon(t, func() bool { return written.line(t, printed) != nil }, printed)
		assert.Equal(t, map[string]any{"level": "INFO", "msg": printed, "version": "1.0.0", "stream": "stderr"}, written.line(t, printed), "it isn't the manager's, but isn't lost")
	}
	assert.Equal(t, []string{"a noise in 1.0.0"}, w.recorded("Heard"), "events are the manager's to record")
	_, err = w.reconcile(t.Context(), "l")
	require.NoError(t, err, "what was printed harms nobody")

	for reason, annotations := range map[string]map[string]string{
		"whisper":         {"operkit.dev/log-default-level": "debug"},
		"quietly careful": {"operkit.dev/log-filters": "safety:debug"},
	} {
		loud := lab("l", map[string]any{"version": "1.0.0", "setup": "say"})
		loud.SetAnnotations(annotations)
		w.put(t, loud)
		_, err = w.reconcile(t.Context(), "l")
		require.NoError(t, err)
		assert.NotNil(t, session.line(t, reason), "a resource may want to hear more of itself: %v", annotations)
	}
}

// A long line, many lines and lines without end are no harm.
func TestStandardError(t *testing.T) {
	t.Parallel()
	written := &logs{}
	options := folder(t, "talks", "1.0.0")
	options.Logger = written.logger(slog.LevelInfo)
	pool := start(t, options)
	w := newWorld(t, pool.Controllers()[0])
	w.put(t, lab("l", map[string]any{"version": "1.0.0"}))
	_, err := w.reconcile(t.Context(), "l")
	require.NoError(t, err)
	kill(t, pool.Report()[0].PID)
	soon(t, func() bool { return written.line(t, "the end, without a newline") != nil }, "what is said last")
	soon(t, func() bool { return written.line(t, "\ufffd") != nil }, "what is no text")
	assert.NotNil(t, written.line(t, strings.Repeat("x", 4<<10)), "the beginning of a long line")
	assert.NotNil(t, written.line(t, "after it"))
	line := written.line(t, "a version has ended soon after its start; it is started again when it is needed")
	soon(t, func() bool {
		line = written.line(t, "a version has ended soon after its start; it is started again when it is needed")
		return line != nil
	}, "its end is told")
	assert.Equal(t, "its process has ended: signal: killed: "+strings.Repeat("x", 4<<10)+"; after it; \ufffd; the end, without a newline", line["error"])
}

func init() {
	programs["talks"] = func(ctx context.Context, version string) error {
		_, _ = os.Stderr.WriteString(strings.Repeat("x", 1<<20) + "\nafter it\n\n\xff\nthe end, without a newline")
		return programs["lab"](ctx, version)
	}
}

// A resource whose version is gone isn't finalized by anybody else: that would lose what only the version knows of.
func TestFinalizeNeedsTheVersion(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "lab", "1.0.0"))
	w := newWorld(t, pool.Controllers()[0])
	w.put(t, lab("l", map[string]any{"version": "1.0.0"}))
	require.NoError(t, w.persist(t.Context(), "l"))
	require.NotEmpty(t, w.get(t, labs, "l").GetFinalizers())
	w.put(t, lab("l", map[string]any{"version": "0.9.0"}))
	ref := deploy.Ref{Kind: labs, Namespace: "test", Name: "l"}
	require.NoError(t, w.memory.Port().Delete(t.Context(), ref, deploy.DeleteOptions{Propagation: metav1.DeletePropagationBackground}))
	_, err := w.reconcile(t.Context(), "l")
	require.ErrorContains(t, err, `there is no version "0.9.0": choose one of 1.0.0`)
	w.put(t, lab("l", map[string]any{"version": "1.0.0"}))
	require.NoError(t, w.persist(t.Context(), "l"))
	assert.Nil(t, w.get(t, labs, "l"))
}
