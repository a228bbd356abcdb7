package versions_test

import (
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Hooks are called, with what has come of the components, just as if the controller were here; and what they answer counts as if it were.
func TestHooks(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "lab", "1.0.0"))
	for _, row := range []struct {
		reason string
		spec   map[string]any
		// hooks are those that have to be heard of.
		hooks []string
		after time.Duration
	}{
		{"all goes well", map[string]any{}, []string{"AfterDeploy", "AfterVerify", "Requeue"}, 42 * time.Second},
		{"a component fails", map[string]any{"build": "fail"}, []string{"AfterIncomplete-false-true"}, 0},
		{"a component waits", map[string]any{"build": "wait for a precondition"}, []string{"AfterIncomplete-false-false", "Requeue"}, 42 * time.Second},
		{"an object isn't ready", map[string]any{"judge": "wait for a precondition"}, []string{"AfterDeploy", "AfterIncomplete-true-false", "Requeue"}, 42 * time.Second},
		{"an object has failed", map[string]any{"judge": "fail"}, []string{"AfterDeploy", "AfterIncomplete-true-true"}, 0},
		{"an object isn't ready by a second judge", map[string]any{"judge too": "wait for a precondition"}, []string{"AfterDeploy", "AfterIncomplete-true-false", "Requeue"}, 42 * time.Second},
		{"both judges: the first one fails", map[string]any{"judge": "fail", "judge too": "wait for a precondition"}, []string{"AfterDeploy", "AfterIncomplete-true-true"}, 0},
		{"both judges: the second one fails", map[string]any{"judge": "set the status", "judge too": "fail"}, []string{"AfterDeploy", "AfterIncomplete-true-true"}, 0},
		{"a gate fails", map[string]any{"gate": "fail"}, []string{"AfterIncomplete-false-true"}, 0},
		{"a hook fails", map[string]any{"AfterDeploy": "fail"}, []string{"AfterDeploy"}, 0},
		{"a hook panics", map[string]any{"AfterVerify": "panic"}, []string{"AfterDeploy", "AfterVerify"}, 0},
		{"a hook waits", map[string]any{"AfterVerify": "wait for a precondition"}, []string{"AfterDeploy", "AfterVerify"}, 7 * time.Minute},
		{"a hook says that it passes", map[string]any{"AfterDeploy": "pass"}, []string{"AfterDeploy"}, 0},
		{"Requeue fails", map[string]any{"Requeue": "fail"}, []string{"AfterDeploy", "AfterVerify", "Requeue"}, 0},
		{"Requeue waits", map[string]any{"Requeue": "wait for a precondition"}, []string{"AfterDeploy", "AfterVerify", "Requeue"}, 7 * time.Minute},
		{"status 14: a component blames the resource", map[string]any{"build": "blame the resource"}, []string{"AfterIncomplete-false-true"}, 0},
		{"status 14: a judge blames the resource", map[string]any{"judge": "blame the resource"}, []string{"AfterDeploy", "AfterIncomplete-true-true"}, 0},
		{"status 14: a second judge does", map[string]any{"judge too": "blame the resource"}, []string{"AfterDeploy", "AfterIncomplete-true-true"}, 0},
		{"status 14: a gate does", map[string]any{"gate": "blame the resource"}, []string{"AfterIncomplete-false-true"}, 0},
		{"status 14: a hook does", map[string]any{"AfterVerify": "blame the resource"}, []string{"AfterDeploy", "AfterVerify"}, 0},
		{"Setup sets the status", map[string]any{"setup": "set the status"}, nil, 42 * time.Second},
		{"a component sets the status", map[string]any{"build": "set the status"}, nil, 42 * time.Second},
		{"a judge sets the status", map[string]any{"judge": "set the status"}, nil, 42 * time.Second},
		{"a gate sets the status", map[string]any{"gate": "set the status"}, nil, 42 * time.Second},
		{"a hook sets the status", map[string]any{"AfterVerify": "set the status"}, nil, 42 * time.Second},
		{"Setup sets a field that isn't its own", map[string]any{"setup": "set the status wrongly"}, nil, 0},
		{"a component sets one", map[string]any{"build": "set the status wrongly"}, nil, 0},
		{"it is too late to set a field", map[string]any{"Requeue": "set the status"}, nil, 0},
		{"Setup fails: nothing comes after", map[string]any{"setup": "fail"}, nil, 0},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			type run struct {
				err       string
				class     status.ErrorClass
				passes    bool
				permanent bool
				after     time.Duration
				events    map[string][]string
				ready     any
				fields    any
			}
			var runs []run
			for _, controller := range []reconcile.Controller{Lab{"1.0.0"}, pool.Controllers()[0]} {
				w := newWorld(t, controller, reconcile.MaxAttempts(2))
				spec := map[string]any{"version": "1.0.0", "hooks": "yes"}
				for key, value := range row.spec {
					spec[key] = value
				}
				w.put(t, lab("l", spec))
				var last run
				for range 3 {
					result, err := w.reconcile(t.Context(), "l")
					last = run{class: request.ClassOf(err), passes: request.Resolve(err).Passing, permanent: request.IsPermanent(err), after: result.RequeueAfter}
					if err != nil {
						last.err = err.Error()
					}
				}
				last.events = map[string][]string{}
				for _, e := range w.events {
					last.events[e.Reason] = append(last.events[e.Reason], string(e.Type)+" "+e.Note)
				}
				status, _ := w.get(t, labs, "l").Object["status"].(map[string]any)
				last.ready, last.fields = status["componentStatus"], status["lab"]
				runs = append(runs, last)
			}
			assert.Equal(t, runs[0], runs[1], "here and there")
			for _, hook := range row.hooks {
				assert.Contains(t, runs[1].events, hook)
			}
			assert.Equal(t, row.after, runs[1].after)
			for method, what := range row.spec {
				if what == "blame the resource" {
					assert.Equal(t, status.ErrorConfig, runs[1].class)
				}
				if what == "set the status" && method != "Requeue" {
					assert.Equal(t, map[string]any{"colour": "red", "rooms": []any{map[string]any{"size": int64(3)}}}, runs[1].fields)
				}
			}
			if row.spec["build"] == "fail" {
				require.Len(t, runs[1].events["Exhausted"], 1, "after two attempts it is given up, and then it starts anew")
				assert.Contains(t, runs[1].events["Exhausted"][0], "given up after 2 attempts: component built: build: it doesn't work")
			}
		})
	}
}

// What Exhausted answers is told, too.
func TestExhausted(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "lab", "1.0.0"))
	w := newWorld(t, pool.Controllers()[0], reconcile.MaxAttempts(1))
	w.put(t, lab("l", map[string]any{"version": "1.0.0", "setup": "fail", "Exhausted": "panic"}))
	_, err := w.reconcile(t.Context(), "l")
	require.ErrorContains(t, err, "given up after 1 attempts: setup: it doesn't work; exhausted: panic: the lab explodes")
	assert.True(t, request.IsPermanent(err))
}

// A version without hooks isn't asked for any.
func TestNoHooks(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "tower", "1.0.0"))
	w := newWorld(t, pool.Controllers()[0])
	w.put(t, house("h", map[string]any{"version": "1.0.0"}))
	_, err := w.reconcile(t.Context(), "h")
	require.NoError(t, err)
	calls := pool.Report()[0].Calls
	assert.Zero(t, calls["hook"])
	assert.Equal(t, 1, calls["setup"])
	assert.Zero(t, calls["render"], "what Setup adds comes with it")
	require.Empty(t, w.get(t, houses, "h").GetFinalizers(), "nor is anything finalized")
}

// A value that the version can't encode is an error of the reconcile, as it is without versions.
func TestStatusFieldThatIsNoValue(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "lab", "1.0.0"))
	w := newWorld(t, pool.Controllers()[0])
	w.put(t, lab("l", map[string]any{"version": "1.0.0", "setup": "set the status to what is no value"}))
	_, err := w.reconcile(t.Context(), "l")
	require.ErrorContains(t, err, "status field lab.door: invalid value: ")
	require.ErrorContains(t, err, "unsupported type: func()")
	assert.Equal(t, status.ErrorRollout, request.ClassOf(err))
}
