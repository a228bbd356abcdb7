package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/envtest/devcluster"
)

// asCommand makes this test binary behave as the command.
const asCommand = "DEVCLUSTER_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program makes a devcluster program that tells what it got.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	const script = "#!/bin/sh\necho \"args: $*\"\ncat\necho \"pid: $$\" >&2\nexit 7\n"
	require.NoError(t, os.WriteFile(path, []byte(script), 0o700))
	return path
}

func command(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1", devcluster.BinaryVariable+"="+program)
	return cmd
}

func TestCommandBecomesTheProgram(t *testing.T) {
	t.Parallel()
	cmd := command(t, program(t), "kubectl", "get", "--help", "a b")
	cmd.Stdin = bytes.NewBufferString("standard input\n")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 7, exit.ExitCode())
	assert.Equal(t, "args: kubectl get --help a b\nstandard input\n", stdout.String())
	assert.Equal(t, fmt.Sprintf("pid: %d\n", cmd.Process.Pid), stderr.String(), "one process, not one below the other")
}

func TestCommandBuildPrintsThePath(t *testing.T) {
	t.Parallel()
	path := program(t)
	output, err := command(t, path, "build").Output()
	require.NoError(t, err)
	assert.Equal(t, path+"\n", string(output))
}

func TestCommandErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		program string
		args    []string
		want    string
	}{
		"no program":      {"/no/such/program", []string{"up"}, "devcluster: OPERKIT_DEVCLUSTER_BINARY: stat /no/such/program: no such file or directory\n"},
		"build with more": {"/no/such/program", []string{"build", "x"}, "devcluster: build takes no arguments, got [\"x\"]\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := command(t, test.program, test.args...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			var exit *exec.ExitError
			require.ErrorAs(t, cmd.Run(), &exit)
			assert.Equal(t, 1, exit.ExitCode())
			assert.Equal(t, test.want, stderr.String())
		})
	}
}

func TestRunHandsOnWhyItCanNotBecome(t *testing.T) {
	t.Setenv(devcluster.BinaryVariable, program(t))
	reason := errors.New("reason")
	err := run([]string{"up"}, nil, nil, func(string, []string) error { return reason })
	assert.ErrorIs(t, err, reason)
}
