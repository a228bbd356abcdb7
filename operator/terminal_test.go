package operator_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// terminal runs a command of the binary in a terminal of so many columns and lines, and keeps what it shows.
type terminal struct {
	command *exec.Cmd
	shown   buffer
	done    chan error
}

func inTerminal(t *testing.T, columns, lines uint16, variables []string, args ...string) *terminal {
	t.Helper()
	term := &terminal{command: exec.Command(os.Args[0], args...), done: make(chan error, 1)}
	term.command.Env = append(append(os.Environ(), asOperator+"=1", "TERM=xterm"), variables...)
	file, err := pty.StartWithSize(term.command, &pty.Winsize{Cols: columns, Rows: lines})
	require.NoError(t, err)
	go func() {
		// Reading fails when the program has ended.
		_, _ = io.Copy(&term.shown, file)
		term.done <- term.command.Wait()
		_ = file.Close()
	}()
	t.Cleanup(func() { _ = term.command.Process.Kill() })
	return term
}

// text is all that was shown once the program has ended.
func (term *terminal) text(t *testing.T) string {
	t.Helper()
	select {
	case <-term.done:
	case <-time.After(patience):
		t.Fatal("it doesn't end")
	}
	return strings.ReplaceAll(term.shown.String(), "\r\n", "\n")
}

// picture is what a terminal would show by now that understands the sequences which move the cursor up and clear.
func (term *terminal) picture() []string {
	var lines []string
	at := 0
	move := regexp.MustCompile(`^\x1b\[(\d*)([AKJ])`)
	for text := strings.ReplaceAll(term.shown.String(), "\r", ""); text != ""; {
		if found := move.FindStringSubmatch(text); found != nil {
			text = text[len(found[0]):]
			switch found[2] {
			case "A":
				n := 0
				for _, digit := range found[1] {
					n = 10*n + int(digit-'0')
				}
				at -= n
				lines[at] = ""
			case "J":
				lines = lines[:min(at, len(lines))]
			}
			continue
		}
		letter, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		for len(lines) <= at {
			lines = append(lines, "")
		}
		if letter == '\n' {
			if at++; at < len(lines) {
				lines[at] = ""
			}
			continue
		}
		lines[at] += string(letter)
	}
	return lines
}

const gadgetSample = `apiVersion: operator.operkit.dev/v1
kind: Gadget
metadata: {name: a-gadget-with-a-long-name, namespace: shop}
`

func TestNarrowTerminal(t *testing.T) {
	t.Parallel()
	file := file(t, gadgetSample)
	for _, args := range [][]string{{"--help"}, {"graph", "--help"}, {"status", "--help"}} {
		text := inTerminal(t, 40, 20, nil, args...).text(t)
		before, examples, _ := strings.Cut(text, "Examples:\n")
		_, after, _ := strings.Cut(examples, "\n\n")
		for line := range strings.Lines(before + after) {
			line = strings.TrimRight(line, "\n")
			words := strings.Fields(line)
			// What can't be broken: how a command is called, and the name of a flag with its kind.
			if isCommand := strings.Contains(line, "gadget-operator"); !isCommand && utf8.RuneCountInString(line) > 40 && len(words) > 3 {
				assert.Fail(t, "too long for the terminal", "%v: %q", args, line)
			}
		}
	}
	for _, args := range [][]string{{"version"}, {"graph", "-f", file}} {
		for line := range strings.Lines(inTerminal(t, 40, 20, nil, args...).text(t)) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), 40, "%v: %s", args, line)
		}
	}
}

func TestNoColours(t *testing.T) {
	t.Parallel()
	file := file(t, gadgetSample)
	for _, args := range [][]string{{"--help"}, {"config"}, {"graph", "-f", file}, {"render", "-f", file}, {"nonsense"}} {
		for _, variables := range [][]string{nil, {"NO_COLOR=1"}} {
			assert.NotContains(t, inTerminal(t, 80, 24, variables, args...).text(t), "\x1b", "%v", args)
		}
	}
}

// What reads the output may end first, as head does: nothing is said of that.
func TestBrokenPipe(t *testing.T) {
	t.Parallel()
	file := file(t, gadgetSample)
	for _, args := range [][]string{{"config"}, {"render", "-f", file, "-r", "testdata/crds"}, {"run", "--help"}, {"completion", "bash"}} {
		command := exec.Command(os.Args[0], args...)
		command.Env = append(os.Environ(), asOperator+"=1")
		var log bytes.Buffer
		command.Stderr = &log
		reader, writer, err := os.Pipe()
		require.NoError(t, err)
		require.NoError(t, reader.Close())
		command.Stdout = writer
		err = command.Run()
		require.NoError(t, writer.Close())
		var exit *exec.ExitError
		require.True(t, errors.As(err, &exit), "%v: %v", args, err)
		status, ok := exit.Sys().(syscall.WaitStatus)
		require.True(t, ok)
		assert.True(t, status.Signaled() && status.Signal() == syscall.SIGPIPE, "%v: %v", args, err)
		assert.Empty(t, log.String(), "%v", args)
	}
}

func TestStatusWatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	w.run("gadget-operator", gadgetOperator(), w.replica("operator"), "--namespace", w.Namespace)
	someone := w.person("someone", "get", "list", "watch")
	rows := func(lines []string) (names []string) {
		for _, line := range lines {
			if fields := strings.Fields(line); len(fields) > 1 && fields[0] != "NAME" {
				names = append(names, fields[0]+" "+fields[1])
			}
		}
		return names
	}
	in := []string{"-n", w.Namespace, "--kubeconfig", someone.kubeconfig}
	t.Run("a table that lives in a terminal", func(t *testing.T) {
		term := inTerminal(t, 80, 10, nil, append([]string{"status", "--watch"}, in...)...)
		w.eventually("it says that there is nothing", func() bool { return strings.Join(term.picture(), "") == "no resources found" })
		w.resource(gadgets, "one")
		w.eventually("it shows what comes", func() bool { return strings.Join(rows(term.picture()), ",") == "one True" })
		for _, name := range []string{"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"} {
			w.resource(gadgets, name)
		}
		w.eventually("it shows as much as there is room for", func() bool {
			picture := term.picture()
			return len(picture) == 9 && picture[8] == "and 3 more lines"
		})
		for _, name := range []string{"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"} {
			w.delete(gadgets, name)
		}
		w.eventually("what goes is gone", func() bool { return strings.Join(rows(term.picture()), ",") == "one True" })
		require.NoError(t, term.command.Process.Signal(syscall.SIGINT))
		select {
		case err := <-term.done:
			assert.NoError(t, err, "an interrupt is its end, not a failure")
		case <-time.After(patience):
			t.Fatal("an interrupt doesn't end it")
		}
		for _, line := range term.picture() {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), 80)
		}
	})
	t.Run("elsewhere one picture after the other", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		command := exec.CommandContext(ctx, os.Args[0], append([]string{"status", "gadget/late", "-w", "-o", "json"}, in...)...)
		command.Env = append(os.Environ(), asOperator+"=1")
		command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
		var out buffer
		command.Stdout, command.Stderr = &out, &out
		require.NoError(t, command.Start())
		w.eventually("one that isn't there yet is waited for", func() bool { return out.String() == "[]\n" })
		w.resource(gadgets, "late")
		w.eventually("it comes", func() bool { return strings.Contains(out.String(), `"ready": "True"`) })
		cancel()
		_ = command.Wait()
		assert.NotContains(t, out.String(), "\x1b")
	})
	t.Run("what can't be watched", func(t *testing.T) {
		stranger := w.person("stranger", "get")
		code, _, log := stranger.says("status", "--watch", "gadgets", "-n", w.Namespace)
		assert.Equal(t, 1, code)
		assert.Contains(t, log, "not allowed to list and watch gadgets")
		for _, args := range [][]string{{"-A", "-n", "shop"}, {"-n", "team-*"}, {"-l", "=="}, {"gadget/one", "-A"}} {
			code, _, log := someone.says(append([]string{"status", "--watch"}, args...)...)
			assert.Equal(t, 2, code, log)
		}
	})
}

// What commands say about files fits a terminal of 80 columns.
func TestTerminalOf80Columns(t *testing.T) {
	t.Parallel()
	const misspelt = "testdata/terminal/misspelt.yaml"
	for golden, args := range map[string][]string{
		"warnings":  {"graph", "-f", misspelt, "-r", "testdata/crds"},
		"undefined": {"graph", "-f", "testdata/terminal/misspelt.yaml"},
		"unknown":   {"apply", "-f", misspelt},
	} {
		shown := inTerminal(t, 80, 24, nil, args...).text(t)
		want, err := os.ReadFile(filepath.Join("testdata", "terminal", golden+".txt"))
		require.NoError(t, err)
		assert.Equal(t, string(want), shown, "commands 1, 3: %s", golden)
		for line := range strings.Lines(shown) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), 80, line)
		}
	}
}
