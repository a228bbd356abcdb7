package operator_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var servedAt = regexp.MustCompile(`msg=serving what=(\S+) address=(\S+)`)

// address is where a process serves something, by the key of it; empty as long as it doesn't.
func (p *process) address(key string) string {
	for _, found := range servedAt.FindAllStringSubmatch(p.log.String(), -1) {
		if found[1] == key {
			return found[2]
		}
	}
	return ""
}

// ask returns the code and the text of an answer, zero if there is none.
func ask(t *testing.T, address, path string) (code int, text string) {
	t.Helper()
	answer, err := http.Get("http://" + address + path)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { assert.NoError(t, answer.Body.Close()) }()
	content, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(content)
}

func TestProbes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition))
	dir := t.TempDir()
	beat, rendered := filepath.Join(dir, "beat"), filepath.Join(dir, "rendered")
	flags := append([]string{"--health.address", "127.0.0.1:0", "--profiling.address", "127.0.0.1:0", "--metrics.address", "127.0.0.1:0", "--heartbeat.file", beat, "--manifests.directory", rendered}, brief...)
	first := w.process(w.replica("first", leading(t)...), flags...)
	ready := func(p *process) func() bool {
		return func() bool {
			address := p.address("health.address")
			if address == "" {
				return false
			}
			code, _ := ask(t, address, "/readyz")
			return code == http.StatusOK
		}
	}
	w.eventually("it is ready", ready(first))
	w.eventually("it leads", first.says(leads))
	t.Run("what a probe asks", func(t *testing.T) {
		code, text := ask(t, first.address("health.address"), "/healthz")
		assert.Equal(t, http.StatusOK, code)
		assert.Equal(t, "ok\n", text)
		code, _ = ask(t, first.address("health.address"), "/debug/pprof/cmdline")
		assert.Equal(t, http.StatusNotFound, code, "profiles are on request only, and elsewhere")
		code, _ = ask(t, first.address("profiling.address"), "/debug/pprof/cmdline")
		assert.Equal(t, http.StatusOK, code)
	})
	t.Run("watch 38, operator 7: the heartbeat", func(t *testing.T) {
		w.eventually("it beats", func() bool { _, err := os.Stat(beat); return err == nil })
		code, out, log := execute(t, "check-heartbeat", "--file", beat, "--delta", "60")
		assert.Zero(t, code, log)
		assert.Empty(t, out+log)
	})
	t.Run("operator 22: what is rendered is kept as files", func(t *testing.T) {
		w.resource(gadgets, "one")
		w.eventually("it works", func() bool { return w.mode("one") == "old" })
		w.eventually("the file is there", func() bool {
			found, err := filepath.Glob(filepath.Join(rendered, "*", w.Namespace, "one", "*", "*.yaml"))
			require.NoError(t, err)
			return len(found) > 0
		})
	})
	t.Run("the metrics have the names that dashboards know", func(t *testing.T) {
		code, text := ask(t, first.address("metrics.address"), "/metrics")
		assert.Equal(t, http.StatusOK, code)
		for _, want := range []string{
			`controller_runtime_reconcile_total{controller="Gadget",result="requeue_after"} `, `controller_runtime_active_workers{controller="Gadget"} `,
			`controller_runtime_reconcile_time_seconds_bucket{controller="Gadget",le="+Inf"} `, `workqueue_depth{controller="all",name="all"} 0`,
			`workqueue_adds_total{controller="Gadget",name="Gadget"} `, `rest_client_requests_total{code="200",host="`, `leader_election_master_status{name="gadget-operator"} 1`,
			`operkit_reconcile_calls_count{controller="Gadget"} `, `operkit_resources_paused{controller="Gadget"} 0`, `operkit_operator_info{operator="gadget-operator",version="`,
			"go_goroutines ", "process_resident_memory_bytes ",
		} {
			assert.Contains(t, text, "\n"+want)
		}
	})
	t.Run("watch mistake 20: a replica that waits for its turn is well, ready, and beats", func(t *testing.T) {
		other := filepath.Join(dir, "other")
		flags := append([]string{"--health.address", "127.0.0.1:0", "--heartbeat.file", other}, brief...)
		second := w.process(w.replica("second", leading(t)...), flags...)
		w.eventually("it is ready", ready(second))
		w.eventually("it beats", func() bool { _, err := os.Stat(other); return err == nil })
		assert.False(t, second.says(leads)())
		second.send(t, syscall.SIGTERM)
		state, _ := second.end(t)
		assert.True(t, state.Success())
	})
	t.Run("an address that is taken", func(t *testing.T) {
		third := w.process(w.replica("third", leading(t)...), append([]string{"--health.address", first.address("health.address")}, brief...)...)
		state, _ := third.end(t)
		assert.Equal(t, 1, state.ExitCode())
		assert.Len(t, third.log.lines("health.address "+first.address("health.address")+": bind: address already in use: say another one, or off"), 1)
	})
	address := first.address("health.address")
	first.send(t, syscall.SIGTERM)
	state, _ := first.end(t)
	assert.True(t, state.Success())
	code, _ := ask(t, address, "/healthz")
	assert.Zero(t, code)
}
