package guide

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/devcluster"
)

const (
	root  = "../../.."
	pages = root + "/operator/guide"
)

// walkTimeout bounds a page, with what is compiled for it.
const walkTimeout = 10 * time.Minute

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(pages, name))
	require.NoError(t, err)
	return string(text)
}

// commands are the lines of the blocks of a page that a shell is to run.
func commands(t *testing.T, name string) (lines []string) {
	t.Helper()
	for _, part := range strings.Split(page(t, name), "```sh\n")[1:] {
		block, _, closed := strings.Cut(part, "```")
		require.True(t, closed)
		lines = append(lines, strings.Split(strings.TrimSuffix(block, "\n"), "\n")...)
	}
	require.NotEmpty(t, lines, "%s has commands", name)
	return lines
}

// expect is a function of the shell: it runs a command until it succeeds and prints a text.
const expect = `expect() {
	for try in $(seq 600); do
		if out=$(eval "$2" 2>&1) && case $out in *"$1"*) true;; *) false;; esac; then
			printf '$ %s\n%s\n' "$2" "$out"
			return
		fi
		sleep 0.1
	done
	printf '$ %s\n%s\nand not: %s\n' "$2" "$out" "$1"
	return 1
}
`

// operates is a line that runs an operator, which a person ends.
var operates = regexp.MustCompile(` run( --[^ ]+)*$`)

// script is what a shell makes of a page: a command has to succeed, and to print, after a while, what its comment says; an operator runs
// until the page ends.
func script(lines []string) string {
	var script strings.Builder
	script.WriteString(expect)
	for _, line := range lines {
		command, want, said := strings.Cut(line, " # ")
		switch {
		case said:
			fmt.Fprintf(&script, "expect '%s' '%s'\n", want, strings.ReplaceAll(command, "'", `'\''`))
		case operates.MatchString(line):
			script.WriteString(line + " &\n")
		default:
			script.WriteString(line + "\n")
		}
	}
	return script.String()
}

// walk does what a page says, at the root of the repository, on a cluster of its own.
func walk(t *testing.T, name string, variables ...string) {
	t.Helper()
	env := envtest.Start(t, envtest.OwnCluster())
	binary, err := devcluster.Binary(t.Context(), os.Stderr)
	require.NoError(t, err)
	programs := t.TempDir()
	kubectl := fmt.Sprintf("#!/bin/sh\nexec '%s' kubectl --dir '%s' \"$@\"\n", binary, env.Dir)
	require.NoError(t, os.WriteFile(filepath.Join(programs, "kubectl"), []byte(kubectl), 0o700))
	variables = append(variables, "PATH="+programs+":"+os.Getenv("PATH"), "KUBECONFIG="+filepath.Join(env.Dir, "kubeconfig"),
		// An operator is compiled as those that operkit made are, so that all are made of the same.
		"CGO_ENABLED=0", "GOFLAGS="+os.Getenv("GOFLAGS")+" -buildvcs=false -trimpath")
	output, err := run(t, root, append(os.Environ(), variables...), script(commands(t, name)))
	require.NoError(t, err, output)
	t.Log(output)
}

// run has a shell do a script, and returns what was printed. What the script leaves running ends with it.
func run(t *testing.T, dir string, environment []string, script string) (output string, err error) {
	t.Helper()
	printed, err := os.Create(filepath.Join(t.TempDir(), "output")) // a pipe would be open as long as an operator runs
	require.NoError(t, err)
	defer printed.Close()
	ctx, cancel := context.WithTimeout(t.Context(), walkTimeout)
	defer cancel()
	shell := exec.CommandContext(ctx, "sh", "-e")
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.Dir, shell.Env, shell.Stdin = dir, environment, strings.NewReader(script)
	shell.Stdout, shell.Stderr = printed, printed
	require.NoError(t, shell.Start())
	err = shell.Wait()
	_ = syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) // nobody may be left
	text, readErr := os.ReadFile(printed.Name())
	require.NoError(t, readErr)
	return string(text), err
}
