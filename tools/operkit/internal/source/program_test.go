package source_test

import (
	"go/format"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/operkit/internal/source"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	backupPath = "example.com/x/internal/backup"
	// asWritten is the program that init writes.
	asWritten = `// Command x is an operator.
package main

import (
	"example.com/x/internal/guestbook"
	"github.com/operkit/operkit/operator/full"
)

func main() {
	op := full.New("x")
	op.Control(guestbook.Controller{})
	op.Main()
}
`
)

func parsed(t *testing.T, text string) *source.File {
	t.Helper()
	file, err := source.Parse("main.go", []byte(text))
	require.NoError(t, err)
	return file
}

func TestControl(t *testing.T) {
	t.Parallel()
	replaced := func(before, after string) string {
		require.Contains(t, asWritten, before)
		return strings.Replace(asWritten, before, after, 1)
	}
	for _, row := range []struct {
		reason, before string
		// want are pieces of the result, in their order.
		want []string
	}{
		{"as it was written", asWritten, []string{
			"import (\n\t\"example.com/x/internal/backup\"\n\t\"example.com/x/internal/guestbook\"\n",
			"\top.Control(guestbook.Controller{})\n\top.Control(backup.Controller{})\n\top.Main()\n",
		}},
		{"comments stay where they are", replaced("\top.Control(guestbook.Controller{})\n", "\t// Guestbooks.\n\top.Control(guestbook.Controller{}) // all of them\n\n\t// Off we go.\n"), []string{
			"\t// Guestbooks.\n\top.Control(guestbook.Controller{}) // all of them\n\top.Control(backup.Controller{})\n\n\t// Off we go.\n",
		}},
		{"a call of several lines", replaced("guestbook.Controller{}", "guestbook.Controller{},\n\t\treconcile.OwnAnywhere(),\n\t"), []string{"\t)\n\top.Control(backup.Controller{})\n\top.Main()"}},
		{"another variable", strings.ReplaceAll(asWritten, "op.", "o."), []string{"\to.Control(backup.Controller{})\n\to.Main()"}},
		{"no controller yet", replaced("\top.Control(guestbook.Controller{})\n", ""), []string{"\top.Control(backup.Controller{})\n\top.Main()\n"}},
		{"imports in groups", replaced("\t\"github.com/operkit", "\n\t\"github.com/operkit"), []string{"\t\"example.com/x/internal/backup\"\n", "\top.Control(backup.Controller{})\n"}},
		{"one import", replaced("import (\n\t\"example.com/x/internal/guestbook\"\n\t\"github.com/operkit/operkit/operator/full\"\n)", "import \"github.com/operkit/operkit/operator/full\""), []string{
			"import \"github.com/operkit/operkit/operator/full\"\nimport \"example.com/x/internal/backup\"\n", "\top.Control(backup.Controller{})\n",
		}},
		{"the name is taken", replaced("op := full", "backup := 1\n\top := full"), []string{"\tbackupcontroller \"example.com/x/internal/backup\"\n", "\top.Control(backupcontroller.Controller{})\n"}},
		{"imported already, by another name", replaced("\t\"github", "\tb \"example.com/x/internal/backup\"\n\t\"github"), []string{"\top.Control(b.Controller{})\n"}},
		{"in a function of its own", replaced("\top.Control(guestbook.Controller{})\n\top.Main()\n}\n", "\tadd(op)\n\top.Main()\n}\n\nfunc add(o *operator.Operator) {\n\to.Control(guestbook.Controller{})\n}\n"), []string{
			"\to.Control(guestbook.Controller{})\n\to.Control(backup.Controller{})\n}\n",
		}},
		{"not formatted: nothing else changes", strings.ReplaceAll(asWritten, "\top.Main()", "\top . Main( )"), []string{"\top.Control(backup.Controller{})\n\top . Main( )\n"}},
	} {
		file := parsed(t, row.before)
		assert.False(t, file.Controls(backupPath), row.reason)
		text, err := file.Control(backupPath, "backup")
		require.NoError(t, err, row.reason)
		rest := string(text)
		for _, piece := range row.want {
			_, after, found := strings.Cut(rest, piece)
			assert.True(t, found, "%s: %q in\n%s", row.reason, piece, text)
			rest = after
		}
		assert.True(t, parsed(t, string(text)).Controls(backupPath), row.reason)
		assert.True(t, keeps(row.before, string(text)), "%s: every line stays, in its order:\n%s", row.reason, text)
	}
}

func TestNoPlaceForAController(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, text string }{
		{"another way to say it", strings.ReplaceAll(asWritten, "\top.Control(guestbook.Controller{})\n\top.Main()\n", "\tos.Exit(op.Execute(ctx, nil, nil, nil))\n")},
		{"not on a line of its own", strings.ReplaceAll(asWritten, "\top.Control(guestbook.Controller{})\n\top.Main()\n", "\tif true { op.Main() }\n")},
		{"no operator at all", "package main\n\nfunc main() {}\n"},
		{"called on no variable", strings.ReplaceAll(strings.ReplaceAll(asWritten, "\top.Control(guestbook.Controller{})\n", ""), "op.Main()", `full.New("x").Main()`)},
	} {
		_, err := parsed(t, row.text).Control(backupPath, "backup")
		assert.ErrorIs(t, err, source.ErrNoPlace, row.reason)
	}
}

func TestControls(t *testing.T) {
	t.Parallel()
	const guestbook = "example.com/x/internal/guestbook"
	for _, row := range []struct {
		reason, call string
		want         bool
	}{
		{"as it was written", "op.Control(guestbook.Controller{})", true},
		{"a pointer", "op.Control(&guestbook.Controller{})", true},
		{"made by a function", "op.Control(guestbook.New())", true},
		{"with options", "op.Control(guestbook.Controller{}, reconcile.OwnAnywhere())", true},
		{"something else of the package", "op.Other(guestbook.Controller{})", false},
		{"another package's", "op.Control(backup.Controller{})", false},
	} {
		file := parsed(t, strings.Replace(asWritten, "op.Control(guestbook.Controller{})", row.call, 1))
		assert.Equal(t, row.want, file.Controls(guestbook), row.reason)
	}
}

// keeps tells whether all lines of a text are in another one, in their order.
func keeps(before, after string) bool {
	rest := strings.Split(after, "\n")
	for line := range strings.SplitSeq(before, "\n") {
		for len(rest) > 0 && rest[0] != line {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return false
		}
		rest = rest[1:]
	}
	return true
}

// FuzzControl: whatever the program looks like, it is left alone, or has one controller more and all that it had.
func FuzzControl(f *testing.F) {
	f.Add(asWritten)
	f.Add("package main\nfunc main() { op.Main() }")
	f.Add("package main\nimport \"a\"\nfunc main() {\n\top.Main()\n}")
	f.Add("package main\r\nimport \"a\"\r\nfunc main() {\r\n\top.Main()\r\n}")
	f.Add("package main\nimport (\"a\"; \"b\")\nfunc main() {\n\top.Control(x) // y\n}")
	f.Fuzz(func(t *testing.T, before string) {
		file, err := source.Parse("main.go", []byte(before))
		if err != nil {
			return
		}
		text, err := file.Control(backupPath, "backup")
		if err != nil {
			assert.ErrorIs(t, err, source.ErrNoPlace)
			return
		}
		assert.True(t, parsed(t, string(text)).Controls(backupPath), string(text))
		if formatted, err := format.Source([]byte(before)); err == nil && string(formatted) == before {
			formatted, err := format.Source(text)
			assert.NoError(t, err)
			assert.Equal(t, string(formatted), string(text), "what was formatted is")
		}
	})
}
