package command

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/operkit/operkit/tools/devcluster/internal/component"
	"github.com/operkit/operkit/tools/devcluster/internal/state"
	"github.com/operkit/operkit/tools/devcluster/internal/unixsocket"
	"github.com/operkit/operkit/tools/devcluster/internal/workdir"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// result is what a command line led to.
type result struct {
	code           int
	stdout, stderr string
	kubectl        [][]string // arguments of each call
	kubeconfig     string     // $KUBECONFIG at the last of them
}

// run executes a command line of a program whose kubectl only remembers its arguments.
func run(t *testing.T, arguments ...string) result {
	t.Helper()
	t.Setenv("KUBECONFIG", "of the user")
	var stdout, stderr bytes.Buffer
	var r result
	r.code = Execute(t.Context(), Program{
		Version: "v1.36.3", Versions: map[string]string{"etcd": "v3", "kwok": "v0"},
		Kubectl: func(arguments []string) int {
			r.kubectl = append(r.kubectl, arguments)
			r.kubeconfig = os.Getenv("KUBECONFIG")
			if len(arguments) > 0 && arguments[0] == "config" {
				return 4
			}
			return 0
		},
		CheckGates: func(gates string) error {
			if strings.Contains(gates, "Unknown") {
				return errors.New("unrecognized feature gate")
			}
			return nil
		},
		Stdin: os.Stdin, Stdout: &stdout, Stderr: &stderr,
	}, arguments)
	r.stdout, r.stderr = stdout.String(), stderr.String()
	return r
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(workdir.Environment, filepath.Join(dir, "none"))
	for _, row := range []struct {
		arguments string
		err       string
	}{
		{"up --components etcd,proxy", `component "proxy" is unknown: choose from etcd,apiserver,controller-manager,scheduler,kwok`},
		{"up --components kwok", "components kwok: etcd is missing, every cluster needs etcd and apiserver"},
		{"up --feature-gates Unknown=true", "feature gates Unknown=true: unrecognized feature gate"},
		{"exec --feature-gates Unknown=true,B=false -- true", "feature gates Unknown=true,B=false: unrecognized feature gate"},
		{"up --port 70000", "port 70000 is not a port number"},
		{"up --crds /nonexistent", "CRDs: stat /nonexistent: no such file or directory"},
		{"up --detach --until-eof", "if any flags in the group [detach until-eof] are set none of the others can be"},
		{"up now", `unknown command "now" for "devcluster up"`},
		{"launch", `unknown command "launch" for "devcluster"`},
		{"exec", "requires at least 1 arg(s), only received 0"},
		{"status -o yaml", `output "yaml" is unknown: choose text or json`},
		{"version -o yaml", `output "yaml" is unknown: choose text or json`},
		{"kubeconfig --group dev", "--group needs --user"},
		{"component eject etcd", `action "eject" is unknown: choose from start, stop, restart`},
		{"component stop proxy", `component "proxy" is unknown`},
		{"component stop", "accepts 2 arg(s), received 1"},
		{"kubectl --dir", "--dir needs a directory"},
		{"--dir " + dir + " kubectl get pods", "no cluster runs in " + dir + ": start one with 'devcluster up'"},
		{"kubeconfig --dir " + dir, "no cluster runs in " + dir + ": start one with 'devcluster up'"},
		{"component stop etcd --dir " + dir, "no cluster runs in " + dir + ": start one with 'devcluster up'"},
	} {
		t.Run(row.arguments, func(t *testing.T) {
			got := run(t, strings.Fields(row.arguments)...)
			assert.Equal(t, 1, got.code)
			assert.Contains(t, got.stderr, "devcluster: "+row.err)
			assert.Equal(t, 1, strings.Count(got.stderr, "\n"), "one line: %s", got.stderr)
			assert.Empty(t, got.stdout)
			assert.Empty(t, got.kubectl)
		})
	}
}

func TestExecWithoutACommand(t *testing.T) {
	got := run(t, "exec", "--", "no-such-command")
	assert.Equal(t, 127, got.code, "as a shell says it")
	assert.Contains(t, got.stderr, `"no-such-command": executable file not found`)
}

func TestKubectl(t *testing.T) {
	dir := t.TempDir()
	listener, err := unixsocket.Listen(filepath.Join(dir, "control.sock"))
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	t.Setenv(workdir.Environment, "/variable")
	for _, row := range []struct {
		reason, line, dir, passed string
		code                      int
	}{
		{"--dir before the subcommand", "--dir " + dir + " kubectl get pods -n x", dir, "get pods -n x", 0},
		{"--dir after it", "kubectl --dir " + dir + " get pods", dir, "get pods", 0},
		{"--dir in one word", "kubectl --dir=" + dir + " get pods", dir, "get pods", 0},
		{"a later --dir is not ours", "kubectl --dir " + dir + " cp --dir x", dir, "cp --dir x", 0},
		{"a user's own kubeconfig needs no cluster here", "kubectl --kubeconfig f get pods", "/variable", "--kubeconfig f get pods", 0},
		{"nor does help", "kubectl get --help", "/variable", "get --help", 0},
		{"nor the version of the client", "kubectl version --client", "/variable", "version --client", 0},
		{"nor nothing", "kubectl", "/variable", "", 0},
		{"the exit code is kubectl's", "kubectl config view", "/variable", "config view", 4},
	} {
		t.Run(row.reason, func(t *testing.T) {
			got := run(t, strings.Fields(row.line)...)
			assert.Equal(t, row.code, got.code)
			assert.Empty(t, got.stderr)
			require.Len(t, got.kubectl, 1)
			assert.Equal(t, row.passed, strings.Join(got.kubectl[0], " "))
			assert.Equal(t, filepath.Join(row.dir, "kubeconfig"), got.kubeconfig)
		})
	}
	assert.True(t, needsCluster(strings.Fields("exec pod -- tool --help")), "what is behind -- is the pod's business")
}

func TestVersion(t *testing.T) {
	assert.Equal(t, "kubernetes v1.36.3\netcd v3\nkwok v0\n", run(t, "version").stdout)
	assert.JSONEq(t, `{"kubernetes": "v1.36.3", "etcd": "v3", "kwok": "v0"}`, run(t, "version", "-o", "json").stdout)
}

func TestHelp(t *testing.T) {
	for _, line := range []string{"", "--help", "help"} {
		got := run(t, strings.Fields(line)...)
		assert.Zero(t, got.code)
		for _, word := range []string{"state.json", "audit.log", "$OPERKIT_DEVCLUSTER", "up ", "exec ", "component "} {
			assert.Contains(t, got.stdout, word)
		}
	}
	got := run(t, "up", "--help")
	assert.Contains(t, got.stdout, "--detach ")
	assert.NotContains(t, got.stdout, "--detached", "is between the program and itself")
}

func TestStatusAndDownWithoutACluster(t *testing.T) {
	ready := state.State{
		Phase: state.Ready, Ready: true, SupervisorPID: 1 << 30,
		Components: []state.Component{{Name: component.Etcd, PID: 1 << 30, Phase: state.Ready}},
	}
	for _, row := range []struct {
		reason string
		file   *state.State
		text   string
	}{
		{"nothing was ever there", nil, "stopped\nno cluster runs here\n"},
		{"the file claims what is not true", &ready, "failed\nthe supervisor is gone\n"},
		{"the last one has crashed", new(ready.Ended(state.Failed, "why")), "failed\nwhy\n"},
		{"the last one was stopped", new(ready.Ended(state.Stopped, "")), "stopped\n"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			dir := t.TempDir()
			if row.file != nil {
				require.NoError(t, state.Write(filepath.Join(dir, "state.json"), *row.file))
			}
			got := run(t, "status", "--dir", dir)
			assert.Equal(t, 1, got.code)
			assert.Equal(t, "cluster in "+dir+": "+row.text, got.stdout)
			assert.Contains(t, run(t, "status", "-o", "json", "--dir", dir).stdout, `"ready": false`)
			got = run(t, "down", "--dir", dir)
			assert.Zero(t, got.code)
			assert.Equal(t, "no cluster runs in "+dir+"\n", got.stdout)
		})
	}
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		script string
		code   int
	}{{"exit 0", 0}, {"exit 7", 7}, {"kill -TERM $$", 143}} {
		err := exitCode(exec.Command("/bin/sh", "-c", row.script).Run())
		var exit *exitError
		if row.code == 0 {
			assert.NoError(t, err)
			continue
		}
		require.ErrorAs(t, err, &exit, row.script)
		assert.Equal(t, row.code, exit.code, row.script)
	}
	other := errors.New("copying failed")
	assert.Equal(t, other, exitCode(other))
}
