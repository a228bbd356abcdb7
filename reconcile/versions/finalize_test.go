package versions_test

import (
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What Finalize adds is rolled out just as if the controller were here.
func TestFinalizeRollsOut(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "lab", "1.0.0"))
	for _, row := range []struct {
		reason string
		spec   map[string]any
		gone   bool
		err    string
	}{
		{"all goes well", map[string]any{"farewell": "yes"}, true, ""},
		{"Finalize waits", map[string]any{"farewell": "yes", "finalize": "wait for a precondition"}, false, ""},
		{"Finalize fails", map[string]any{"farewell": "yes", "finalize": "fail"}, false, "finalize: it doesn't work"},
		{"Finalize panics", map[string]any{"farewell": "yes", "finalize": "panic"}, false, "finalize: panic: the lab explodes"},
		{"an object isn't ready", map[string]any{"farewell": "yes", "judge": "wait for a precondition"}, false, ""},
		{"an object has failed", map[string]any{"farewell": "yes", "judge": "fail"}, false, "finalize: component built: ConfigMap l-built: it doesn't work"},
		{"a component fails", map[string]any{"farewell": "yes", "build": "fail"}, false, "finalize: component built: build: it doesn't work"},
		{"a gate waits", map[string]any{"farewell": "yes", "gate": "wait for a precondition"}, false, ""},
		{"a hook fails", map[string]any{"farewell": "yes", "AfterVerify": "fail", "hooks": "yes"}, false, "finalize: after the verification: it doesn't work"},
		{"a mistake", map[string]any{"farewell": "twice"}, false, "component card: is added twice"},
		{"what is removed stays out", map[string]any{"farewell": "without the old ones"}, true, ""},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			var runs []map[string]any
			for _, controller := range []reconcile.Controller{Lab{"1.0.0"}, pool.Controllers()[0]} {
				w := newWorld(t, controller)
				spec := map[string]any{"version": "1.0.0"}
				w.put(t, lab("l", spec))
				_, err := w.reconcile(t.Context(), "l")
				require.NoError(t, err)
				for key, value := range row.spec {
					spec[key] = value
				}
				w.put(t, lab("l", spec))
				require.NoError(t, w.memory.Port().Delete(t.Context(), deploy.Ref{Kind: labs, Namespace: "test", Name: "l"}, deploy.DeleteOptions{}))
				var text string
				var after time.Duration
				for range 2 {
					result, err := w.reconcile(t.Context(), "l")
					if after = result.RequeueAfter; err != nil {
						text = err.Error()
					}
				}
				if row.err == "" {
					assert.Empty(t, text)
				} else {
					assert.ErrorContains(t, stringError(text), row.err)
				}
				assert.Equal(t, row.gone, w.get(t, labs, "l") == nil)
				runs = append(runs, map[string]any{"objects": w.contents(), "err": text, "after": after})
			}
			assert.Equal(t, runs[0], runs[1], "here and there")
		})
	}
	t.Run("what deploys by itself is refused", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, pool.Controllers()[0])
		w.put(t, lab("l", map[string]any{"version": "1.0.0", "farewell": "deploys"}))
		_, err := w.reconcile(t.Context(), "l")
		require.NoError(t, err)
		require.NoError(t, w.memory.Port().Delete(t.Context(), deploy.Ref{Kind: labs, Namespace: "test", Name: "l"}, deploy.DeleteOptions{}))
		_, err = w.reconcile(t.Context(), "l")
		require.ErrorContains(t, err, "finalize: component own: versions_test.deployer has a method Deploy, but this version runs as a child")
		require.Nil(t, w.get(t, configMaps, "l-card"))
	})
}

type stringError string

func (e stringError) Error() string { return string(e) }
