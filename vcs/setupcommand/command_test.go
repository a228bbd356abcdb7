package setupcommand

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/vcs"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mounted runs the command as one of another program, which has a flag of its own.
func mounted(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	root := &cobra.Command{Use: "operator", SilenceErrors: true, SilenceUsage: true}
	root.PersistentFlags().String("config", "", "the file with the settings")
	root.AddCommand(New())
	var out, log bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&log)
	root.SetArgs(args)
	err = root.ExecuteContext(t.Context())
	return out.String(), log.String(), err
}

func TestMounted(t *testing.T) {
	t.Parallel()
	path, destination := source(t), filepath.Join(t.TempDir(), "versions")
	for _, args := range [][]string{
		{"setup-vcs", "--config", "x", "-s", path, "-d", destination, "-te", `v.*`},
		{"--config=x", "setup-vcs", "-s", path, "-d", destination, "-te=v.*", "-f"},
	} {
		stdout, stderr, err := mounted(t, args...)
		require.NoError(t, err)
		assert.Contains(t, stdout, "v1.1.0   tag    ")
		assert.Contains(t, stdout, "1.0.0       tag      no expression matches its name")
		assert.Equal(t, "reading 1 version\npacking 3 objects\n", stderr)
	}
	for _, args := range [][]string{{"setup-vcs", "--help"}, {"setup-vcs", "-h", "-te"}, {"help", "setup-vcs"}} {
		stdout, _, err := mounted(t, args...)
		if args[len(args)-1] == "-te" {
			assert.Equal(t, exitUsage, ExitCode(err), "a flag without its value")
			continue
		}
		require.NoError(t, err)
		assert.Contains(t, stdout, "Usage:\n  operator setup-vcs --source PATH [flags]\n")
		assert.Contains(t, stdout, "\n  operator setup-vcs --source . --destination ../operator_vcs\n")
		assert.Contains(t, stdout, "See 'operator --help' for the flags that all commands have.")
	}
	_, _, err := mounted(t, "setup-vcs", "--sourc", path)
	assert.Equal(t, exitUsage, ExitCode(err))
	assert.ErrorContains(t, err, "unknown flag: --sourc: use one of --source, --destination, ")
	stdout, _, err := mounted(t, "__complete", "setup-vcs", "--tag")
	require.NoError(t, err)
	assert.Contains(t, stdout, "--tag-expr", "a shell can complete its flags")
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		err  error
		want int
	}{
		{nil, 0}, {errors.New("any"), exitFailed},
		{coded(&vcs.ConfigError{Op: "setup", Subject: "x", Err: errors.New("y")}), exitUsage},
		{coded(&vcs.ConfigError{Op: "setup", Subject: "x", Err: &vcs.NoMatchError{}}), exitNoMatch},
		{coded(&vcs.ContentionError{Path: "x", Err: errors.New("y")}), exitContention},
		{coded(&vcs.RuntimeError{Op: "setup", Subject: "x", Err: errors.New("y")}), exitFailed},
		{coded(&vcs.RuntimeError{Op: "setup", Subject: "x", Err: fmt.Errorf("y: %w", context.Canceled)}), exitInterrupted},
		{fmt.Errorf("wrapped: %w", usage(errors.New("z"))), exitUsage},
	} {
		assert.Equal(t, row.want, ExitCode(row.err), "%v", row.err)
	}
	assert.NoError(t, coded(nil))
}

func TestExecuteIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	destination := filepath.Join(t.TempDir(), "versions")
	assert.Equal(t, exitInterrupted, Execute(ctx, []string{"-s", source(t), "-d", destination}, &stdout, &stderr))
	assert.Empty(t, stdout.String())
	assert.Equal(t, "setup-vcs: interrupted: nothing was changed\n", stderr.String()[strings.Index(stderr.String(), "setup-vcs"):])
	assert.NoDirExists(t, destination)
}
