package operkit

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// patience is what a command gets: the first time it compiles what an operator is made of.
const patience = 10 * time.Minute

// world is a folder in which somebody works.
type world struct {
	t   *testing.T
	dir string
}

// newOperator is a world in which `operkit init` has written an operator, without its control plane.
func newOperator(t *testing.T, args ...string) *world {
	t.Helper()
	w := &world{t, t.TempDir()}
	w.run(published.Operkit, append([]string{"init", "guestbook-operator", "--kind", "Guestbook", "--group", "example.com"}, args...)...)
	w.dir = filepath.Join(w.dir, "guestbook-operator")
	return w
}

// run runs a command and returns what it said.
func (w *world) run(name string, args ...string) string {
	w.t.Helper()
	output, err := w.try(name, args...)
	require.NoError(w.t, err, "%s %s\n%s", filepath.Base(name), strings.Join(args, " "), output)
	return output
}

func (w *world) try(name string, args ...string) (string, error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	output, err := w.command(ctx, name, args...).CombinedOutput()
	return string(output), err
}

// command is one in the folder that ends with all that it has started.
func (w *world) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = w.dir, published.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// operkit runs the program and returns what it said.
func (w *world) operkit(args ...string) string {
	w.t.Helper()
	return w.run(published.Operkit, args...)
}

// isFine holds what every stage of an operator has to pass.
func (w *world) isFine() {
	w.t.Helper()
	w.run("go", "build", "./...")
	w.run("go", "vet", "./...")
	assert.Empty(w.t, w.run("gofmt", "-l", "."))
	assert.Regexp(w.t, `(?m)^ok\s+example.com/guestbook-operator/internal/guestbook\b`, w.run("make", "test"))
	w.unchangedBy("make", "generate")
	w.unchangedBy("go", "mod", "tidy")
}

// unchangedBy runs a command that has nothing to do.
func (w *world) unchangedBy(name string, args ...string) string {
	w.t.Helper()
	before := w.files()
	output := w.run(name, args...)
	after := w.files()
	assert.ElementsMatch(w.t, slices.Collect(maps.Keys(before)), slices.Collect(maps.Keys(after)))
	for file, text := range after {
		assert.Equal(w.t, before[file], text, "%s %s leaves %s as it is", filepath.Base(name), strings.Join(args, " "), file)
	}
	return output
}

// files are those of the operator by their names, without what is built and the control plane's.
func (w *world) files() map[string]string {
	w.t.Helper()
	files := map[string]string{}
	require.NoError(w.t, filepath.WalkDir(w.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); name == "bin" || name == ".cluster" {
				return filepath.SkipDir
			}
			return nil
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(w.dir, path)
		files[filepath.ToSlash(name)] = string(text)
		return err
	}))
	return files
}

// edit replaces text in a file.
func (w *world) edit(file, before, after string) {
	w.t.Helper()
	path := filepath.Join(w.dir, file)
	text, err := os.ReadFile(path)
	require.NoError(w.t, err)
	require.Contains(w.t, string(text), before)
	require.NoError(w.t, os.WriteFile(path, []byte(strings.Replace(string(text), before, after, 1)), 0o600))
}

// clusterUp starts the operator's control plane by make, until the test ends.
func (w *world) clusterUp() {
	w.t.Helper()
	w.t.Cleanup(func() {
		down := exec.Command("make", "cluster-down")
		down.Dir, down.Env = w.dir, published.Env
		output, err := down.CombinedOutput()
		assert.NoError(w.t, err, string(output))
	})
	w.run("make", "cluster-up")
}

// kubectl asks that control plane.
func (w *world) kubectl(args ...string) string {
	w.t.Helper()
	return w.run("go", append([]string{"tool", "devcluster", "kubectl", "--dir", ".cluster"}, args...)...)
}

// start starts one, until the test ends with all that it has started.
func (w *world) start(name string, args ...string) *process {
	w.t.Helper()
	p := &process{program.Start(w.t, w.command(context.WithoutCancel(w.t.Context()), name, args...))}
	w.t.Cleanup(func() { _ = syscall.Kill(-p.PID(), syscall.SIGKILL) }) // it is gone already if it has ended
	return p
}

// process is a command that runs beside the test.
type process struct{ *program.Process }

// says waits until the process has said something.
func (p *process) says(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(p.Output(), text) }, patience, 20*time.Millisecond, text)
}
