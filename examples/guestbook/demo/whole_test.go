package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wholeDeadline is what a whole run gets. It may have to build the control plane's program.
const wholeDeadline = 30 * time.Minute

// scratch is a folder with a short path, for everything that a run writes.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "demo-test-") //nolint:usetesting // t.TempDir is too long for unix sockets
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// assertNothingLeft tells that no process works in dir, and that there is nothing in it.
func assertNothingLeft(t *testing.T, dir string) {
	t.Helper()
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	require.NotEmpty(t, commands, "without /proc nobody can tell")
	for _, path := range commands {
		command, err := os.ReadFile(path) // its process may end meanwhile
		if err == nil && bytes.Contains(command, []byte(dir)) {
			t.Errorf("process %s is left: %s", path, bytes.ReplaceAll(command, []byte{0}, []byte{' '}))
		}
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

// assertInOrder tells that text has lines that match the patterns, one after the other.
func assertInOrder(t *testing.T, text string, patterns ...string) {
	t.Helper()
	rest := text
	for _, pattern := range patterns {
		at := regexp.MustCompile("(?m)" + pattern).FindStringIndex(rest)
		if at == nil {
			t.Errorf("no line matches %q after the ones before it, in\n%s", pattern, text)
			return
		}
		rest = rest[at[1]:]
	}
}

// The one run of everything: in this process, so that a goroutine that is left is found too.
func TestWholeDemo(t *testing.T) {
	dir := scratch(t)
	t.Setenv("TMPDIR", dir)
	var stdout, stderr bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), wholeDeadline)
	defer cancel()
	code := run(ctx, nil, environ(nil), &stdout, &stderr)
	require.Equal(t, 0, code, "%s\n%s", &stdout, &stderr)
	told := stdout.String()
	assert.NotContains(t, told, "\x1b", "plain lines")
	assertInOrder(t, told,
		`no container runs`,
		`^ 1  control plane `, ` cluster    ready: Kubernetes v1\.\d+\.\d+ at https://127\.0\.0\.1:\d+$`,
		`^ 2  operator `, ` operator   watches Guestbooks, `,
		`^ 3  create `, ` guestbook  hello created: generation 1, size 2, message "Welcome! Please sign here."$`,
		` redis      StatefulSet hello-redis created$`, ` web        Deployment hello-web created$`, ` guestbook  Ready=True at generation 1$`,
		`^ 4  edit `, ` guestbook  hello changed: generation 2`, ` guestbook  Ready=True at generation 2$`,
		` operator   made \d+ reads?, \d+ writes: .*configmaps hello-web`,
		`^ 5  repair `, ` web        Service hello-web deleted$`, ` web        Service hello-web created$`,
		`^ 6  scale `, ` web        Deployment hello-web changed: spec.replicas$`, ` Deployment hello-web: 3 of 3 Pods ready$`,
		`^ 7  delete `, ` guestbook  hello gone$`, ` all objects and Pods are gone`,
		`^ 8  stop operator `, ` ended on SIGTERM with exit status 0$`,
		`^ 9  stop cluster `, ` cluster    stopped$`,
	)
	for _, line := range []string{"ConfigMap hello-web changed: data.message\n", "Deployment hello-web changed: spec.template."} {
		assert.Contains(t, told, line)
	}
	assertInOrder(t, told, ` redis      verified$`, ` guestbook  Ready=True at generation 1$`)
	assertTable(t, told)
	assertNothingLeft(t, dir)
}

// assertTable reads the table at the very end of what was told, and adds it up.
func assertTable(t *testing.T, told string) {
	t.Helper()
	_, table, found := strings.Cut(told, "\nstep                     seconds   API reads   API writes\n")
	require.True(t, found, told)
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	require.Len(t, lines, 12, "two rules, nine steps, and the total")
	rows := regexp.MustCompile(`^ *\d+  [a-z ]+ (\d+\.\d\d) +(-|\d+) +(-|\d+)$`)
	reads, writes := 0, 0
	for i, line := range lines[1:10] {
		parts := rows.FindStringSubmatch(line)
		require.NotNil(t, parts, line)
		if i == 0 || i == 8 {
			assert.Equal(t, []string{"-", "-"}, parts[2:], "no operator to count: %s", line)
			continue
		}
		r, err := strconv.Atoi(parts[2])
		require.NoError(t, err)
		w, err := strconv.Atoi(parts[3])
		require.NoError(t, err)
		reads, writes = reads+r, writes+w
	}
	total := regexp.MustCompile(`^    total +\d+\.\d\d +(\d+) +(\d+)$`).FindStringSubmatch(lines[11])
	require.NotNil(t, total, lines[11])
	assert.Equal(t, []string{strconv.Itoa(reads), strconv.Itoa(writes)}, total[1:])
	assert.Greater(t, writes, 8, "six objects, the finalizer twice, the status")
}

// performance is a run of the built program.
type performance struct {
	dir            string
	command        *exec.Cmd
	stdout, stderr watched
}

// watched keeps what is written to it, and calls on with each whole line.
type watched struct {
	all bytes.Buffer // not embedded: its ReadFrom would bypass Write
	on  func(line string)
}

// Write implements io.Writer.
func (w *watched) Write(text []byte) (int, error) {
	before := bytes.LastIndexByte(w.all.Bytes(), '\n') + 1
	w.all.Write(text)
	whole := w.all.Bytes()[before : bytes.LastIndexByte(w.all.Bytes(), '\n')+1]
	for line := range strings.Lines(string(whole)) {
		if w.on != nil {
			w.on(line)
		}
	}
	return len(text), nil
}

func (w *watched) String() string { return w.all.String() }

func newPerformance(t *testing.T, program string, variables ...string) *performance {
	t.Helper()
	p := &performance{dir: scratch(t)}
	p.command = exec.CommandContext(t.Context(), program)
	p.command.Env = append(append(os.Environ(), "TMPDIR="+p.dir), variables...)
	p.command.Stdout, p.command.Stderr = &p.stdout, &p.stderr
	p.command.WaitDelay = time.Minute
	return p
}

// run gives the exit code.
func (p *performance) run(t *testing.T) int {
	t.Helper()
	if err := p.command.Run(); p.command.ProcessState == nil {
		require.NoError(t, err)
	}
	return p.command.ProcessState.ExitCode()
}

// The program itself: its signals, its variable, and what it leaves.
func TestProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "demo")
	require.NoError(t, build(t.Context(), ".", program), "built of the same as the operator that it builds")

	t.Run("interrupted in the middle of the rollout it takes everything down", func(t *testing.T) { interrupted(t, program) })
	t.Run("an operator that dies is the reason of a failure", func(t *testing.T) { operatorDies(t, program) })
	t.Run("without a reader there is no play", func(t *testing.T) { readerless(t, program) })
	t.Run("KEEP leaves a cluster, and the lines that it prints work", func(t *testing.T) { kept(t, program) })
}

func interrupted(t *testing.T, program string) {
	t.Helper()
	p := newPerformance(t, program)
	p.stdout.on = func(line string) {
		if strings.Contains(line, "StatefulSet hello-redis created") {
			_ = p.command.Process.Signal(syscall.SIGINT) // that it arrived, the exit code tells
		}
	}
	assert.Equal(t, exitInterrupted, p.run(t), "%s\n%s", &p.stdout, &p.stderr)
	assertInOrder(t, p.stderr.String(), `^demo: interrupted: step \d, \w+: .*interrupt signal received`)
	assert.NotContains(t, p.stdout.String(), "API reads", "no table of a broken run")
	assertNothingLeft(t, p.dir)
}

func operatorDies(t *testing.T, program string) {
	t.Helper()
	p := newPerformance(t, program)
	started := regexp.MustCompile(`operator   started, process (\d+)`)
	operator := 0
	p.stdout.on = func(line string) {
		if found := started.FindStringSubmatch(line); found != nil {
			operator, _ = strconv.Atoi(found[1])
		}
		if operator > 0 && strings.Contains(line, "apply Guestbook default/hello") {
			_ = syscall.Kill(operator, syscall.SIGKILL) // that it hit, the message tells
		}
	}
	assert.Equal(t, exitFailed, p.run(t), "%s\n%s", &p.stdout, &p.stderr)
	assertInOrder(t, p.stderr.String(),
		`^demo: FAILED: step \d, \w+: the operator ended by itself: signal: killed$`,
		`^the end of the operator's log:$`, `msg=starting`)
	assertNothingLeft(t, p.dir)
}

func readerless(t *testing.T, program string) {
	t.Helper()
	p := newPerformance(t, program)
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	p.command.Stdout = writer
	code := p.run(t)
	require.NoError(t, writer.Close())
	assert.Equal(t, exitFailed, code, &p.stderr)
	assert.Contains(t, p.stderr.String(), "demo: FAILED: step 1, control plane: output: ")
	assertNothingLeft(t, p.dir)
}

func kept(t *testing.T, program string) {
	t.Helper()
	p := newPerformance(t, program, "KEEP=1")
	require.Equal(t, 0, p.run(t), "%s\n%s", &p.stdout, &p.stderr)
	told := p.stdout.String()
	assertInOrder(t, told, `^ 8  create again `, `^ 9  stop operator `, `^    total `, `^The cluster stays up`,
		` get guestbooks,deployments,`, ` describe guestbook hello$`, `^  go run ./examples/guestbook run --kubeconfig `, ` && rm -r `)
	t.Cleanup(func() {
		if t.Failed() { // nobody else would take the cluster down
			_, _ = output(typing(context.WithoutCancel(t.Context()), printed(told, " && rm -r ")))
		}
	})
	typed := map[string]string{}
	for _, pattern := range []string{" get guestbooks,", " && rm -r "} {
		text, err := output(typing(t.Context(), printed(told, pattern)))
		require.NoError(t, err)
		typed[pattern] = text
	}
	assertInOrder(t, typed[" get guestbooks,"], `^guestbook.*/hello +True +Stable +2/2`, `^deployment.apps/hello-web +2/2`, `^pod/hello-web-.* Running`)
	assert.Contains(t, typed[" && rm -r "], "is stopped")
	assertNothingLeft(t, p.dir)
}

// printed is the command with this text among what was told.
func printed(told, text string) string {
	return regexp.MustCompile(`(?m)^  go run .*` + regexp.QuoteMeta(text) + `.*$`).FindString(told)
}

// typing runs a line as it would be typed in the repository's root.
func typing(ctx context.Context, line string) *exec.Cmd {
	command := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	command.Dir = filepath.Join("..", "..", "..")
	command.Env = append(os.Environ(), "GOWORK=") // the workspace's, whatever the tests run with
	return command
}
