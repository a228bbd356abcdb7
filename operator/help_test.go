package operator_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// subcommands returns the commands below a command, as a shell completes them.
func subcommands(t *testing.T, path ...string) (commands [][]string) {
	t.Helper()
	code, out, log := execute(t, append(append([]string{"__complete"}, path...), "")...)
	require.Zero(t, code, log)
	for line := range strings.Lines(out) {
		if name, _, described := strings.Cut(line, "\t"); described {
			commands = append(commands, append(append([]string{}, path...), name))
		}
	}
	return commands
}

func TestHelpFits80Columns(t *testing.T) {
	t.Parallel()
	commands := append(subcommands(t), subcommands(t, "completion")...)
	require.Greater(t, len(commands), 15)
	for _, command := range append(commands, nil) {
		t.Run("commands 3: "+strings.Join(command, " "), func(t *testing.T) {
			code, out, log := execute(t, append(command, "--help")...)
			require.Zero(t, code, log)
			for line := range strings.Lines(out) {
				if copied := strings.HasPrefix(line, "\t"); !copied { // a line to be copied into a shell stays in one piece
					assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), 80, line)
				}
			}
		})
	}
}
