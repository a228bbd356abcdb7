package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/operkit/internal/project"
	"github.com/operkit/operkit/tools/operkit/internal/record"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A project that a newer operkit has written is left as it is, even if its record has answers that nobody knows here.
func TestProjectOfANewerProgram(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "guestbook-operator")
	run := func(version string, args ...string) error {
		var out bytes.Buffer
		p := &program{project.Versions{Go: "1.26.0", Operator: "v0.3.0", Envtest: "v0.2.0", ControllerTools: "v0.23.0"}, version, &out, &out}
		root := p.root()
		root.SetArgs(append(args, "--dir", dir))
		return root.ExecuteContext(t.Context())
	}
	require.NoError(t, run("v0.4.0", "init", "guestbook-operator", "--kind", "Guestbook", "--group", "example.com", "--no-tidy"))
	answers := filepath.Join(dir, filepath.FromSlash(record.AnswersFile))
	text, err := os.ReadFile(answers)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(answers, append(text, "more: true\n"...), 0o600))
	for _, args := range []string{"update", "add kind Backup --no-generate", "add component cache"} {
		var mistake *usageError
		err := run("v0.3.0", strings.Fields(args)...)
		require.ErrorAs(t, err, &mistake, args)
		require.ErrorContains(t, err, "was written by operkit v0.4.0, which is newer than this program (v0.3.0): run operkit@latest", args)
	}
	for _, file := range []string{"internal/backup", "internal/guestbook/cache.go", "api/v1/backup_types.go"} {
		assert.NoFileExists(t, filepath.Join(dir, file))
		assert.NoDirExists(t, filepath.Join(dir, file))
	}
}
