package full_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/operkit/operkit/operator/full"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHelpFits80Columns(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"run", "--help"}, {"setup-vcs", "--help"}} {
		op := full.New("guestbook-operator")
		op.Control(Guestbook{})
		var out, log strings.Builder
		require.Zero(t, op.Execute(t.Context(), args, &out, &log), log.String())
		require.NotEmpty(t, out.String())
		for line := range strings.Lines(out.String()) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), 80, "%v: %s", args, line)
		}
	}
}
