package operkit

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// script are the lines for a shell in a chapter of a document.
func script(t *testing.T, document, chapter string) string {
	t.Helper()
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	_, section, found := strings.Cut("\n"+string(text), "\n"+chapter+"\n")
	require.True(t, found, "%s has the chapter %s", document, chapter)
	section, _, _ = strings.Cut(section, "\n#")
	var lines strings.Builder
	for _, block := range strings.Split(section, "```sh\n")[1:] {
		commands, _, closed := strings.Cut(block, "```")
		require.True(t, closed)
		lines.WriteString(commands)
	}
	require.NotEmpty(t, lines.String())
	return lines.String()
}

// The documents say how somebody gets to a first operator: word by word, in an empty folder.
func TestFirstOperator(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		document, chapter string
		want              []string
	}{
		{"../../operkit/README.md", "# operkit", []string{"guestbook.example.com/my-guestbook condition met", "created   internal/guestbook/cache.go", "created   api/v1/backup_types.go"}},
		{"../../../README.md", "## Your first operator", []string{
			"# server: Deployment/my-guestbook-server", "guestbook.example.com/my-guestbook condition met", "nothing to do", `guestbook.example.com "my-guestbook" deleted`,
		}},
	} {
		t.Run(row.document, func(t *testing.T) {
			t.Parallel()
			w := &world{t, t.TempDir()}
			// A script that fails leaves the operator behind, which has the output open, and the control plane.
			commands := "trap 'status=$?; [ $status = 0 ] || { kill $! ; make cluster-down; }; exit $status' EXIT\n" + script(t, row.document, row.chapter)
			output := w.run("sh", "-ec", commands)
			for _, want := range row.want {
				assert.Contains(t, output, want)
			}
			assert.Regexp(t, `(?m)^server +verified$`, output)
		})
	}
}
