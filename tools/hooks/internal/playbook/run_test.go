//go:build unix

package playbook_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/tools/hooks/internal/playbook"
	"github.com/operkit/operkit/tools/hooks/internal/watches"
)

// brief is a timeout that leaves a script the time to begin.
const brief = 3 * time.Second

// over is a script that comes to its end.
const over = `echo '{"event": "stats", "ok": 1}' >>"$OPERKIT_ANSIBLE_EVENTS"` + "\n"

// bench has a Runner with its folder, and runs scripts in the place of playbooks.
type bench struct {
	folder string
	runner *playbook.Runner
	in     playbook.Input
}

// newBench returns a bench. The Config lacks the folder and the command.
func newBench(t *testing.T, config playbook.Config) *bench {
	t.Helper()
	config.Folder, config.Command = t.TempDir(), "testdata/ansible-playbook"
	runner, err := playbook.New(config)
	require.NoError(t, err)
	return &bench{config.Folder, runner, playbook.Input{
		Entry: &watches.Entry{
			Kind:                schema.GroupVersionKind{Group: "cache.example.com", Version: "v1", Kind: "Memcached"},
			SnakeCaseParameters: true,
		},
		Object:     object(map[string]any{"size": int64(3)}),
		Kubeconfig: []byte("the token"),
	}}
}

// object returns a resource.
func object(spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cache.example.com/v1", "kind": "Memcached",
		"metadata": map[string]any{"name": "sample", "namespace": "default"}, "spec": spec,
	}}
}

// run runs a script.
func (b *bench) run(ctx context.Context, t *testing.T, script string) (*playbook.Result, error) {
	t.Helper()
	entry := *b.in.Entry
	if entry.Source == (watches.Source{}) {
		entry.Playbook = filepath.Join(t.TempDir(), "playbook.yml")
		require.NoError(t, os.WriteFile(entry.Playbook, []byte(script), 0o600))
	}
	in := b.in
	in.Entry = &entry
	return b.runner.Run(ctx, in)
}

// running returns the folders of runs.
func (b *bench) running(t *testing.T) []fs.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(b.folder, "running"))
	require.NoError(t, err)
	return entries
}

// output returns what a run has written.
func output(t *testing.T, artifacts string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(artifacts, "output"))
	require.NoError(t, err)
	return string(text)
}

// stop asserts that a run was not made to its end, and returns why.
func stop(t *testing.T, err error) *playbook.RunError {
	t.Helper()
	var e *playbook.RunError
	require.ErrorAs(t, err, &e)
	return e
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	const look = `
echo "$@" | grep -c -e sample -e "the token"
stat -c '%a %n' "$KUBECONFIG" "${4#@}" "$(dirname "$KUBECONFIG")" "$OPERKIT_ANSIBLE_EVENTS" | sed 's, .*/, ,; s,run-.*,run,; s,2.*Z-.*,kept,'
cat "$K8S_AUTH_KUBECONFIG"
touch "$HOME/.cache"; mkdir -p "$TMPDIR/locked/inner"; chmod 0 "$TMPDIR/locked"
`
	t.Run("hooks 67: variables and credentials are in files that only the user may read, and not in arguments", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, playbook.Config{})
		result, err := b.run(t.Context(), t, look+over)
		require.NoError(t, err)
		assert.Equal(t, "0\n600 kubeconfig\n600 variables.json\n700 run\n600 events.jsonl\nthe token", output(t, result.Artifacts))
	})
	for _, row := range []struct {
		reason, script string
		want           playbook.Cause
	}{
		{"after a success", over, ""},
		{"after a failure", "exit 3", playbook.Stopped},
		{"after a mistake", "exit 4", playbook.Invalid},
		{"after garbage", `echo "{" >"$OPERKIT_ANSIBLE_EVENTS"`, playbook.Garbled},
		{"after a kill", "kill -9 $$", playbook.Killed},
		{"after too long a time", "sleep 600", playbook.TimedOut},
	} {
		t.Run("hooks 67: they are gone "+row.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, playbook.Config{Timeout: brief})
			if row.want != playbook.TimedOut {
				b = newBench(t, playbook.Config{})
			}
			_, err := b.run(t.Context(), t, look+row.script)
			if row.want == "" {
				require.NoError(t, err)
			} else {
				assert.Equal(t, row.want, stop(t, err).Cause)
			}
			assert.Empty(t, b.running(t))
		})
	}
	t.Run("hooks 67: they are gone when the program is started again after a kill", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		left := filepath.Join(folder, "running", "run-1")
		require.NoError(t, os.MkdirAll(left, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(left, "kubeconfig"), nil, 0o600))
		sleeper := exec.Command("sleep", "600")
		sleeper.Env = []string{"TMPDIR=" + filepath.Join(left, "tmp")}
		require.NoError(t, sleeper.Start())
		_, err := playbook.New(playbook.Config{Folder: folder, Command: "testdata/ansible-playbook"})
		require.NoError(t, err)
		assert.NoDirExists(t, left)
		assert.ErrorContains(t, sleeper.Wait(), "signal: killed", "and so are its processes")
	})
	t.Run("hooks 67: without a kubeconfig there is none", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, playbook.Config{})
		b.in.Kubeconfig = nil
		result, err := b.run(t.Context(), t, `echo "<$KUBECONFIG$K8S_AUTH_KUBECONFIG>"; ls "$HOME/.."`+"\n"+over)
		require.NoError(t, err)
		assert.Equal(t, "<>\ncallback\nhome\nhosts\ntmp\nvariables.json\nwork\n", output(t, result.Artifacts))
	})
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".ansible", "collections", "mine"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".ansible.cfg"), []byte("[defaults]\n"), 0o600))
	variables := map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": home, "KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBECONFIG": "/root/.kube/config",
		"AWS_SECRET_ACCESS_KEY": "x", "ANSIBLE_COLLECTIONS_PATH": "/opt/collections:more", "ANSIBLE_ROLES_PATH": "~/roles",
		"ANSIBLE_CALLBACK_PLUGINS": "/opt/callbacks", "LANG": "C", "ANSIBLE_GATHERING": "explicit",
	}
	b := newBench(t, playbook.Config{
		Env: []string{"COLOR=blue", "ANSIBLE_GATHERING=smart", "OPERKIT_ANSIBLE_EVENTS=/tmp/other"}, Python: "/opt/venv/bin/python",
		Arguments: []string{"--tags", "configuration"},
		Lookup: func(name string) (string, bool) {
			value, ok := variables[name]
			return value, ok
		},
	})
	b.in.Verbosity = 3
	result, err := b.run(t.Context(), t, `
env | sort | sed "s,$(dirname "$HOME"),RUN,"
ls -A "$HOME" "$HOME/.ansible/collections" | sed "s,$HOME,HOME,"
pwd | sed "s,$(dirname "$HOME"),RUN,"
echo "$@" | sed "s,$(dirname "$HOME"),RUN,g; s,/[^ ]*/playbook.yml,playbook.yml,"
cat "$2"
`+over)
	require.NoError(t, err)
	working, err := os.Getwd()
	require.NoError(t, err)
	got := output(t, result.Artifacts)
	t.Run("hooks 68: a run has a declared environment, and a home of its own", func(t *testing.T) {
		t.Parallel()
		for _, line := range []string{
			"ANSIBLE_CALLBACK_PLUGINS=RUN/callback:/opt/callbacks", "ANSIBLE_COLLECTIONS_PATH=/opt/collections:" + working + "/more",
			"ANSIBLE_GATHERING=smart", "ANSIBLE_LOCALHOST_WARNING=0", "ANSIBLE_LOCAL_TEMP=RUN/tmp", "ANSIBLE_NOCOLOR=1",
			"ANSIBLE_REMOTE_TEMP=RUN/tmp", "ANSIBLE_RETRY_FILES_ENABLED=0", "ANSIBLE_ROLES_PATH=~/roles", "COLOR=blue", "HOME=RUN/home",
			"K8S_AUTH_KUBECONFIG=RUN/kubeconfig", "KUBECONFIG=RUN/kubeconfig", "LANG=C.UTF-8", "LC_ALL=C.UTF-8",
			"OPERKIT_ANSIBLE_EVENTS=" + filepath.Join(result.Artifacts, "events.jsonl"), "PATH=" + os.Getenv("PATH"), "PWD=RUN/work",
			"PYTHONUNBUFFERED=1", "TMPDIR=RUN/tmp",
		} {
			first, rest, _ := strings.Cut(got, "\n")
			for _, own := range []string{"_=", "SHLVL=", "OLDPWD="} { // of the shell
				if strings.HasPrefix(first, own) {
					first, rest, _ = strings.Cut(rest, "\n")
				}
			}
			assert.Equal(t, line, first)
			got = rest
		}
		got = strings.TrimPrefix(strings.TrimPrefix(got, "_=/usr/bin/env\n"), "SHLVL=1\n")
		assert.True(t, strings.HasPrefix(got, "HOME:\n.ansible\n.ansible.cfg\n\nHOME/.ansible/collections:\nmine\nRUN/work\n"), got)
	})
	t.Run("hooks 68: the inventory is localhost, with the Python that is set", func(t *testing.T) {
		t.Parallel()
		assert.True(t, strings.HasSuffix(output(t, result.Artifacts), `--inventory RUN/hosts --extra-vars @RUN/variables.json -vvv --tags configuration playbook.yml
localhost ansible_connection=local ansible_python_interpreter="/opt/venv/bin/python"
`))
	})
	for _, row := range []struct {
		reason, role, beside, variable, want string
	}{
		{"of a playbook without roles beside the file", "", "", "", ""},
		{"of a playbook", "", "/opt/ansible/roles", "", "/opt/ansible/roles:~/.ansible/roles:/usr/share/ansible/roles:/etc/ansible/roles"},
		{"of a playbook, with ANSIBLE_ROLES_PATH", "", "/opt/ansible/roles", "/more", "/opt/ansible/roles:/more"},
		{"of a role beside the file", "/opt/ansible/roles/web", "/opt/ansible/roles", "/more", "/opt/ansible/roles:/more"},
		{"of a role elsewhere", "/shared/web", "/opt/ansible/roles", "/more", "/shared:/opt/ansible/roles:/more"},
	} {
		t.Run("hooks 68: where roles are: "+row.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, playbook.Config{Lookup: func(name string) (string, bool) {
				if name == "ANSIBLE_ROLES_PATH" {
					return row.variable, row.variable != ""
				}
				return os.LookupEnv(name)
			}})
			b.in.Entry.Role, b.in.Entry.Roles = row.role, row.beside
			script := `echo "$ANSIBLE_ROLES_PATH"` + "\n" + over
			result, err := b.run(t.Context(), t, script)
			require.NoError(t, err)
			got, _, _ := strings.Cut(output(t, result.Artifacts), "\n")
			assert.Equal(t, row.want, got)
		})
	}
	t.Run("hooks 68: a role has a playbook with one role", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, playbook.Config{})
		b.in.Entry.Role = "/opt/roles/web"
		result, err := b.run(t.Context(), t, "")
		require.NoError(t, err)
		_, got, _ := strings.Cut(output(t, result.Artifacts), "\n")
		assert.JSONEq(t, `[{"hosts": "localhost", "roles": ["web"]}]`, got)
	})
}

func TestResult(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	hour := time.Hour
	for _, row := range []struct {
		reason, events string
		code           int
		want           playbook.Result
		succeeded      bool
		message        string
	}{
		{"a success", `{"event": "task", "name": "a", "action": "debug", "status": "ok"}
{"event": "task", "name": "b", "action": "copy", "status": "changed"}
{"event": "task", "name": "c", "action": "copy", "status": "skipped"}
{"event": "stats", "ok": 2, "changed": 1, "skipped": 1}`, 0, playbook.Result{OK: 2, Changed: 1, Skipped: 1}, true, ""},
		{"a status that tasks have set", `{"event": "stats", "ok": 1, "statusData": {"size": 3, "names": ["a"]}}`, 0, playbook.Result{OK: 1, Status: map[string]any{"size": int64(3), "names": []any{"a"}}}, true, ""},
		{"a failure", `{"event": "task", "name": "a", "action": "fail", "status": "failed", "message": "no"}
{"event": "task", "name": "b", "action": "fail", "status": "failed", "message": "nor\nthis"}
{"event": "stats", "failures": 2}`, 2, playbook.Result{Failures: 2, Failed: []playbook.FailedTask{{Name: "a", Action: "fail", Message: "no"}, {Name: "b", Action: "fail", Message: "nor\nthis"}}}, false, "no\nnor\nthis"},
		{"failures that count for nothing", `{"event": "task", "name": "a", "action": "fail", "status": "failed", "message": "no", "ignored": true}
{"event": "task", "name": "b", "action": "fail", "status": "failed", "message": "no", "rescued": true}
{"event": "stats", "ok": 1, "rescuedTasks": 1, "ignoredTasks": 1}`, 0, playbook.Result{OK: 1, Rescued: 1, Ignored: 1}, true, ""},
		{"a failure that Ansible counts as rescued", `{"event": "task", "name": "a", "action": "fail", "status": "failed", "message": "no"}
{"event": "task", "name": "b", "action": "ping", "status": "unreachable", "message": "far"}
{"event": "stats", "ok": 1, "rescuedTasks": 1, "unreachable": 1}`, 4, playbook.Result{OK: 1, Rescued: 1, Unreachable: 1, Failed: []playbook.FailedTask{{"b", "ping", "far", true}}}, false, "far"},
		{"a host that isn't reached", `{"event": "task", "name": "a", "action": "ping", "status": "unreachable", "message": "no"}
{"event": "stats", "unreachable": 1}`, 4, playbook.Result{Unreachable: 1, Failed: []playbook.FailedTask{{"a", "ping", "no", true}}}, false, "no"},
		{"a failure that the exit code hides", `{"event": "task", "name": "a", "status": "failed", "message": "no"}
{"event": "stats", "failures": 1}`, 0, playbook.Result{Failures: 1, Failed: []playbook.FailedTask{{Name: "a", Message: "no"}}}, false, "no"},
		{"another run is wanted: the first period counts", `{"event": "task", "name": "a", "action": "requeue_after", "status": "ok", "period": "1h"}
{"event": "task", "name": "b", "action": "requeue_after", "status": "ok", "period": "2h"}
{"event": "stats", "ok": 2}`, 0, playbook.Result{OK: 2, RequeueAfter: &hour}, true, ""},
		{"no other run is wanted by a task that has failed", `{"event": "task", "name": "a", "action": "requeue_after", "status": "failed", "ignored": true, "period": "x"}
{"event": "stats", "ok": 1, "ignoredTasks": 1}`, 0, playbook.Result{OK: 1, Ignored: 1}, true, ""},
	} {
		t.Run("hooks 69: "+row.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, playbook.Config{Now: func() time.Time { return now }})
			result, err := b.run(t.Context(), t, "cat >\"$OPERKIT_ANSIBLE_EVENTS\" <<'END'\n"+row.events+"\nEND\nexit "+strconv.Itoa(row.code))
			require.NoError(t, err)
			row.want.Completed, row.want.Code, row.want.Artifacts = now, row.code, result.Artifacts
			assert.Equal(t, &row.want, result)
			assert.Equal(t, row.succeeded, result.Succeeded())
			assert.Equal(t, row.message, result.Message())
			events, err := os.ReadFile(filepath.Join(result.Artifacts, "events.jsonl"))
			require.NoError(t, err)
			assert.Equal(t, row.events+"\n", string(events))
		})
	}
}

func TestNotRun(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, script string
		cause          playbook.Cause
		code           int
		want           string
		output         string
	}{
		{"a mistake in the playbook", "echo play; echo 'ERROR! no module foo' >&2; exit 4", playbook.Invalid, 4, "playbook.yml: has a mistake: exit status 4: it has written: ERROR! no module foo", ""},
		{"an end in the middle", "echo one; echo two; exit 1", playbook.Stopped, 1, "ended before the end of the playbook: exit status 1: it has written: one two", "one\ntwo\n"},
		{"a quiet end in the middle", "true", playbook.Stopped, 0, "has ended without events", ""},
		{"an end after the last task", over + "echo 'unexpected' >&2; exit 250", playbook.Stopped, 250, "no task has failed, but ansible-playbook has: exit status 250: it has written: unexpected", "unexpected\n"},
		{"a signal", "kill -9 $$", playbook.Killed, -1, "ansible-playbook: signal: killed", ""},
		{"too long a time", "echo well; sleep 600", playbook.TimedOut, -1, "hasn't ended within 3s: raise the timeout, or do less in a run: it has written: well", "well\n"},
		{"too long a time after the end", over + "exec >&-; sleep 600", playbook.TimedOut, -1, "hasn't ended within 3s", ""},
		{"an error with its details", "echo well >&2; echo 'ERROR! no role' >&2; seq 200 >&2; exit 1", playbook.Stopped, 1, "it has written: ERROR! no role 1 2 3", ""},
		{"only the end of what it has written", "seq 100000; exit 1", playbook.Stopped, 1, " 99999 100000", ""},
	} {
		t.Run("hooks 70: "+row.reason, func(t *testing.T) {
			t.Parallel()
			config := playbook.Config{}
			if row.cause == playbook.TimedOut {
				config.Timeout = brief
			}
			b := newBench(t, config)
			result, err := b.run(t.Context(), t, row.script)
			assert.Nil(t, result)
			e := stop(t, err)
			assert.Equal(t, row.cause, e.Cause)
			assert.Equal(t, row.code, e.Code)
			require.ErrorContains(t, err, row.want)
			assert.Less(t, len(err.Error()), 1000)
			assert.LessOrEqual(t, len(e.Output), 4<<10)
			if row.output != "" {
				assert.Equal(t, row.output, e.Output)
			}
			assert.DirExists(t, e.Artifacts)
		})
	}
	t.Run("hooks 70: the end of the caller", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, playbook.Config{})
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(50*time.Millisecond, func() { cancel(enough) })
		_, err := b.run(ctx, t, "sleep 600")
		require.ErrorIs(t, err, enough)
		assert.Equal(t, playbook.Canceled, stop(t, err).Cause)
	})
	t.Run("hooks 70: a folder that isn't there any more", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, playbook.Config{})
		require.NoError(t, os.RemoveAll(b.folder))
		_, err := b.run(t.Context(), t, over)
		assert.Equal(t, playbook.NotStarted, stop(t, err).Cause)
	})
}

func TestNew(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	open, link, used := t.TempDir(), filepath.Join(t.TempDir(), "link"), newBench(t, playbook.Config{})
	require.NoError(t, os.Chmod(open, 0o777))
	require.NoError(t, os.Symlink(t.TempDir(), link))
	defer runtime.KeepAlive(used)
	for _, row := range []struct {
		reason string
		config playbook.Config
		want   string
	}{
		{"no folder", playbook.Config{}, "no folder"},
		{"a program that isn't there", playbook.Config{Folder: t.TempDir(), Command: "surely-not-here"}, "install Ansible"},
		{"a negative limit", playbook.Config{Folder: t.TempDir(), Timeout: -1}, "negative limit"},
		{"a folder that is a file", playbook.Config{Folder: file, Command: "sh"}, "folder of runs"},
		{"a folder that others may write", playbook.Config{Folder: open, Command: "sh"}, "other users may write it"},
		{"a folder that is a link", playbook.Config{Folder: link, Command: "sh"}, "is a link"},
		{"a folder of another Runner", playbook.Config{Folder: used.folder, Command: "sh"}, "is in use by another process"},
	} {
		t.Run("hooks 79: "+row.reason, func(t *testing.T) {
			_, err := playbook.New(row.config)
			assert.ErrorContains(t, err, row.want)
		})
	}
	b := newBench(t, playbook.Config{})
	for _, row := range []struct {
		reason string
		change func(in *playbook.Input)
		want   string
	}{
		{"no entry", func(in *playbook.Input) { in.Entry = nil }, "nil Entry"},
		{"no object", func(in *playbook.Input) { in.Object = nil }, "nil Entry or Object"},
		{"a verbosity that isn't there", func(in *playbook.Input) { in.Verbosity = 8 }, "verbosity 8"},
		{"a name that leads elsewhere", func(in *playbook.Input) { in.Object.SetName("../a") }, "not the name of an object"},
		{"a namespace that leads elsewhere", func(in *playbook.Input) { in.Object.SetNamespace("..") }, "not the name of an object"},
		{"no name", func(in *playbook.Input) { in.Object.SetName("") }, "not the name of an object"},
	} {
		in := b.in
		in.Object = b.in.Object.DeepCopy()
		row.change(&in)
		_, err := b.runner.Run(t.Context(), in)
		assert.ErrorContains(t, err, row.want, row.reason)
	}
}

// runs reports whether the process runs whose id is in a file.
func runs(t *testing.T, file string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(state), ") Z ")
}

func TestWhatItStarts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, end string }{
		{"of a run that has ended", over}, {"of one that has failed", "exit 1"}, {"of one that is late, and ignores SIGTERM", "trap '' TERM; sleep 600"},
	} {
		t.Run("hooks 71: processes end with the run: "+row.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, playbook.Config{Timeout: brief})
			file := filepath.Join(t.TempDir(), "pid")
			began := time.Now()
			_, _ = b.run(t.Context(), t, "sleep 600 & echo $! >"+file+"\n"+row.end)
			assert.Less(t, time.Since(began), 30*time.Second)
			assert.Eventually(t, func() bool { return !runs(t, file) }, 30*time.Second, 10*time.Millisecond)
		})
	}
	t.Run("hooks 71: one that has left the group ends with the run", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, playbook.Config{})
		file := filepath.Join(t.TempDir(), "pid")
		_, err := b.run(t.Context(), t, "setsid sh -c 'echo $$ > "+file+"; exec sleep 600' & while [ ! -s "+file+" ]; do :; done\n"+over)
		require.NoError(t, err)
		assert.Eventually(t, func() bool { return !runs(t, file) }, 30*time.Second, 10*time.Millisecond)
	})
	t.Run("hooks 71: one that has left the group and its environment doesn't hold the run up", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, playbook.Config{})
		file := filepath.Join(t.TempDir(), "pid")
		_, err := b.run(t.Context(), t, "env -i setsid sh -c 'echo $$ > "+file+"; exec sleep 600' & while [ ! -s "+file+" ]; do :; done\n"+over)
		require.NoError(t, err)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		require.NoError(t, err)
		assert.NoError(t, syscall.Kill(pid, syscall.SIGKILL), "it isn't ours any more")
	})
	t.Run("hooks 71: memory, for each process", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, playbook.Config{Memory: 256 << 20})
		_, err := b.run(t.Context(), t, "python3 -c 'bytearray(1 << 30)' || exit 1")
		assert.ErrorContains(t, err, "MemoryError")
	})
}

func TestHostile(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	for _, row := range []struct {
		reason, events string
		want           string
	}{
		{"no JSON", "task", "events: line 1: "},
		{"another value", "[]", "events: line 1: "},
		{"an unknown field", `{"event": "stats", "more": 1}`, `events: line 1: unknown field "more"`},
		{"the same field twice", `{"event": "stats", "ok": 1, "ok": 2}`, `duplicate field "ok"`},
		{"a field of another type", `{"event": "stats", "ok": "many"}`, "events: line 1: "},
		{"an unknown event", `{"event": "play"}`, `unknown event "play"`},
		{"an unknown status", `{"event": "task", "name": "a", "status": "fine"}`, `task "a": unknown status "fine"`},
		{"a negative count", `{"event": "stats", "ok": -1}`, "stats: -1 is no count"},
		{"a count that is too large", `{"event": "stats", "ok": 9223372036854775807}`, "is no count"},
		{"an event after the end", "{\"event\": \"stats\"}\n{\"event\": \"stats\"}", `events: line 2: event "stats" after the end`},
		{"a line without an end", `{"event": "task", "name": "` + long + `"}`, "events: bufio.Scanner: token too long"},
		{"a period that is none", `{"event": "task", "name": "a", "status": "ok", "period": "soon"}`, `task "a": period "soon": must be a time`},
		{"a status that is no object", `{"event": "stats", "statusData": "fine"}`, "events: line 1: "},
		{"a status with conditions", `{"event": "stats", "statusData": {"conditions": []}}`, "set_stats has set conditions in the status"},
		{"a status that is too large", `{"event": "stats", "isStatusLarge": true}`, "the status that set_stats has set is larger than 32 KiB"},
		{"a negative period", `{"event": "task", "name": "a", "status": "ok", "period": "-1s"}`, "must be a time"},
	} {
		t.Run("hooks 72: events are read strictly: "+row.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, playbook.Config{})
			file := filepath.Join(t.TempDir(), "events")
			require.NoError(t, os.WriteFile(file, []byte(row.events), 0o600))
			_, err := b.run(t.Context(), t, "cat "+file+` >"$OPERKIT_ANSIBLE_EVENTS"`)
			assert.Equal(t, playbook.Garbled, stop(t, err).Cause)
			assert.ErrorContains(t, err, row.want)
			assert.Less(t, len(err.Error()), 2000)
		})
	}
	t.Run("hooks 72: endless events", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, playbook.Config{})
		_, err := b.run(t.Context(), t, `yes '{"event": "task", "status": "ok"}' | head -c 40000000 >"$OPERKIT_ANSIBLE_EVENTS"`)
		assert.ErrorContains(t, err, "events: larger than 33554432 bytes")
	})
	t.Run("hooks 72: another file in the place of the events doesn't hold the run up", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, playbook.Config{})
		_, err := b.run(t.Context(), t, `rm "$OPERKIT_ANSIBLE_EVENTS"; mkfifo "$OPERKIT_ANSIBLE_EVENTS"`)
		assert.ErrorContains(t, err, "without events")
	})
	t.Run("hooks 72: names and messages are bounded and printable, and so is their number", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, playbook.Config{})
		line, err := json.Marshal(map[string]any{"event": "task", "status": "failed", "name": "a\x1b[31m\x00" + long[:1000], "message": "b\r\nc" + long[:9000]})
		require.NoError(t, err)
		result, err := b.run(t.Context(), t, "yes '"+string(line)+"' | head -n 1000 >\"$OPERKIT_ANSIBLE_EVENTS\"; echo '{\"event\": \"stats\", \"failures\": 1000}' >>\"$OPERKIT_ANSIBLE_EVENTS\"; exit 2")
		require.NoError(t, err)
		assert.Len(t, result.Failed, playbook.MaxFailed)
		assert.True(t, strings.HasPrefix(result.Failed[0].Name, "a[31mxxx"))
		assert.True(t, strings.HasPrefix(result.Failed[0].Message, "b\ncxxx"))
		assert.Less(t, len(result.Failed[0].Name), 300)
		assert.Less(t, len(result.Failed[0].Message), 5000)
	})
	t.Run("hooks 72: endless output is kept up to 10 MiB, and doesn't hold the run up", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, playbook.Config{})
		result, err := b.run(t.Context(), t, "yes | head -c 30000000; echo end >&2\n"+over)
		require.NoError(t, err)
		got := output(t, result.Artifacts)
		assert.Less(t, len(got), 11<<20)
		assert.True(t, strings.HasSuffix(got, "the rest isn't kept]\n"))
	})
}

func TestArtifacts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason  string
		most    int
		want    int
		cluster bool
	}{
		{"of the last ones", 2, 2, false}, {"of all with zero", 0, 4, false}, {"of all with a negative number", -1, 4, false},
		{"of an object without a namespace", 1, 1, true},
	} {
		t.Run("hooks 73: output and events are kept "+row.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, playbook.Config{})
			b.in.MaxArtifacts = row.most
			namespace := "default"
			if row.cluster {
				b.in.Object.SetNamespace("")
				namespace = ""
			}
			var last string
			for n := range 4 {
				result, err := b.run(t.Context(), t, "echo "+strconv.Itoa(n)+"\n"+over)
				require.NoError(t, err)
				last = result.Artifacts
			}
			kind := b.in.Entry.Kind.GroupKind()
			all := b.runner.ArtifactsOf(kind, namespace, "sample")
			assert.Equal(t, all, filepath.Dir(last))
			entries, err := os.ReadDir(all)
			require.NoError(t, err)
			require.Len(t, entries, row.want)
			assert.Equal(t, filepath.Base(last), entries[row.want-1].Name())
			for i, entry := range entries {
				assert.Equal(t, strconv.Itoa(4-row.want+i)+"\n", output(t, filepath.Join(all, entry.Name())))
			}
			require.NoError(t, b.runner.Forget(kind, namespace, "sample"))
			assert.NoDirExists(t, all)
		})
	}
}
