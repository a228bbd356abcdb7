package source_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/operkit/internal/source"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// controller is one as init writes it.
const controller = `package guestbook

import (
	"context"

	v1 "example.com/x/api/v1"
	"github.com/operkit/operkit/reconcile"
)

// Controller says what a Guestbook consists of.
type Controller struct{}

// Setup implements reconcile.Controller.
func (Controller) Setup(_ context.Context, s *reconcile.Session) error {
	var resource v1.Guestbook
	if err := s.Into(&resource); err != nil {
		return err
	}
	s.Use("server", server{resource.Spec})
	return nil
}

func labels(s *reconcile.Session, component string) map[string]string { return nil }
`

// folders is a module with these files.
func folders(t *testing.T, files map[string]string) []source.Folder {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	found, err := source.Folders(root)
	require.NoError(t, err)
	return found
}

func only(t *testing.T, text string) source.Controller {
	t.Helper()
	found := source.Controllers(folders(t, map[string]string{"internal/guestbook/controller.go": text}))
	require.Len(t, found, 1)
	return found[0]
}

func TestUse(t *testing.T) {
	t.Parallel()
	replaced := func(before, after string) string {
		require.Contains(t, controller, before)
		return strings.ReplaceAll(controller, before, after)
	}
	for _, row := range []struct {
		reason, before string
		after          []string
		want           string
	}{
		{"as it was written", controller, nil, "\ts.Use(\"server\", server{resource.Spec})\n\ts.Use(\"cache\", cache{})\n\treturn nil\n}\n"},
		{"behind others", controller, []string{"server", "x"}, "\ts.Use(\"cache\", cache{}).After(s.Component(\"server\"), reconcile.Ready).After(s.Component(\"x\"), reconcile.Ready)\n\treturn nil\n"},
		{"another name for the session", strings.NewReplacer("s *rec", "session *rec", "s.Use", "session.Use", "s.Into", "session.Into").Replace(controller), nil, "\tsession.Use(\"cache\", cache{})\n\treturn nil\n"},
		{"another name for the import", strings.NewReplacer(`"github.com/operkit/operkit/reconcile"`, `rec "github.com/operkit/operkit/reconcile"`, "*reconcile.", "*rec.").Replace(controller), []string{"server"},
			"\ts.Use(\"cache\", cache{}).After(s.Component(\"server\"), rec.Ready)\n"},
		{"a pointer", replaced("(Controller) Setup", "(c *Controller) Setup"), nil, "\ts.Use(\"cache\", cache{})\n\treturn nil\n"},
		{"a comment behind it", replaced("\treturn nil\n}\n\nfunc", "\treturn nil // so far\n}\n\nfunc"), nil, "\ts.Use(\"cache\", cache{})\n\treturn nil // so far\n"},
		{"not formatted: nothing else changes", replaced("\treturn nil\n}\n\nfunc", "  return   nil\n}\n\nfunc"), nil, "  s.Use(\"cache\", cache{})\n  return   nil\n"},
	} {
		c := only(t, row.before)
		assert.Equal(t, []string{"server"}, c.Components(), row.reason)
		text, err := c.Use(c.Line("cache", "cache", row.after))
		require.NoError(t, err, row.reason)
		assert.Contains(t, string(text), row.want, row.reason)
		assert.True(t, keeps(row.before, string(text)), row.reason)
		assert.Equal(t, []string{"server", "cache"}, only(t, string(text)).Components(), row.reason)
	}
}

func TestNoPlaceForAComponent(t *testing.T) {
	t.Parallel()
	end := "\ts.Use(\"server\", server{resource.Spec})\n\treturn nil\n"
	for _, row := range []struct{ reason, end string }{
		{"something else is returned", "\treturn add(s)\n"},
		{"a loop", "\tfor {\n\t}\n"},
		{"two in one line", "\ts.Add(\"server\"); return nil\n"},
		{"several results are no longer those of Setup", "\treturn nil, nil\n"},
	} {
		_, err := only(t, strings.Replace(controller, end, row.end, 1)).Use("x")
		assert.ErrorIs(t, err, source.ErrNoPlace, row.reason)
	}
}

func TestComponents(t *testing.T) {
	t.Parallel()
	c := only(t, strings.Replace(controller, "\treturn nil\n}\n\nfunc", `	web := s.Add("web").After(s.Component("server"))
	for _, name := range []string{"a"} {
		s.Use(name, server{}) // nobody knows how they are called
	}
	if true {
		s.Use("late", server{})
	}
	web.Add("object", nil)
	return nil
}

func`, 1))
	assert.Equal(t, []string{"server", "web", "late"}, c.Components())
}

func TestControllers(t *testing.T) {
	t.Parallel()
	found := source.Controllers(folders(t, map[string]string{
		"go.mod":                           "module example.com/x",
		"main.go":                          strings.NewReplacer("package guestbook", "package main", "Controller", "Backup").Replace(controller),
		"internal/guestbook/controller.go": controller,
		"internal/switchcontroller/c.go":   strings.Replace(controller, "package guestbook", "package switchcontroller", 1),
		"internal/x/x_test.go":             strings.Replace(controller, "package guestbook", "package x", 1),
		"internal/y/y.go":                  strings.Replace(controller, "operkit/operkit/reconcile", "else/reconcile", 1),
		"internal/z/z.go":                  strings.Replace(controller, "_ context.Context, s *reconcile.Session", "s *reconcile.Session", 1),
		"internal/w/w.go":                  strings.Replace(controller, "func (Controller) Setup", "func Setup", 1),
		"internal/unnamed/u.go":            strings.Replace(controller, ", s *", ", _ *", 1),
		"vendor/a/c.go":                    controller,
		"testdata/c.go":                    controller,
		".hidden/c.go":                     controller,
		"nested/go.mod":                    "module example.com/nested",
		"nested/c.go":                      controller,
	}))
	var kinds []string
	for _, c := range found {
		kinds = append(kinds, c.Kind())
	}
	require.Equal(t, []string{"Backup", "guestbook", "switchcontroller"}, kinds)
	assert.True(t, found[0].For("Backup"))
	assert.True(t, found[1].For("Guestbook"))
	assert.True(t, found[2].For("Switch"))
	assert.False(t, found[2].For("Guestbook"))
}

func TestFolder(t *testing.T) {
	t.Parallel()
	all := folders(t, map[string]string{
		"go.mod":      "module example.com/x",
		"a/a.go":      controller,
		"a/a_test.go": "package guestbook\n\nimport net \"net/http\"\n\nfunc TestX() {}\n",
		"a/doc.go":    "// Package guestbook is one.\n//\n// +groupName=example.com\npackage guestbook\n\nconst (\n\tone, two = 1, 2\n)\n",
	})
	require.Len(t, all, 1)
	folder := all[0]
	assert.Equal(t, "guestbook", folder.Name())
	assert.Equal(t, "example.com", folder.Marker("groupName"))
	assert.Empty(t, folder.Marker("group"))
	for _, name := range []string{"Controller", "labels", "one", "two", "TestX"} {
		assert.True(t, folder.Declares(name), name)
	}
	for _, name := range []string{"Setup", "resource", "v1", "context"} {
		assert.False(t, folder.Declares(name), name)
		assert.True(t, folder.Uses(name), "%s: stands there for something else", name)
	}
	assert.True(t, folder.Uses("net"), "the name of an import")
	assert.False(t, folder.Uses("other"))
	assert.True(t, folder.Method("Controller", "Setup"))
	assert.False(t, folder.Method("Controller", "Kind"))
	assert.True(t, folder.Function("labels", 2))
	assert.False(t, folder.Function("labels", 1), "another one")
	assert.False(t, folder.Function("Setup", 2), "a method is none")
	assert.True(t, folder.Imports("example.com/x/api/v1"))
	assert.True(t, folder.Has("doc.go"))
	assert.False(t, folder.Without("doc.go").Has("doc.go"))
}

func TestBrokenFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "main.go"), []byte("package main\n\nfunc {"), 0o600))
	_, err := source.Folders(root)
	assert.ErrorContains(t, err, "main.go:3")
	assert.ErrorContains(t, err, "fix this file first")
}

// FuzzUse: whatever a controller looks like, it is left alone, or has one component more and all that it had.
func FuzzUse(f *testing.F) {
	f.Add(controller)
	f.Add(strings.Replace(controller, "\treturn nil\n}\n\nfunc", "\treturn nil // so far\n}\n\nfunc", 1))
	f.Add("package x\nimport . \"github.com/operkit/operkit/reconcile\"\nfunc (C) Setup(a b, s *Session) error { return nil }")
	f.Add("package x\nimport r \"github.com/operkit/operkit/reconcile\"\nfunc () Setup(a b, s *r.Session) {}") // a receiver that is none
	f.Add("package x\nimport r \"github.com/operkit/operkit/reconcile\"\nfunc (C) Setup(a b, s *r.Session) error {\n\treturn nil }")
	f.Fuzz(func(t *testing.T, before string) {
		file, err := source.Parse("c.go", []byte(before))
		if err != nil {
			return
		}
		for _, c := range source.Controllers([]source.Folder{{Files: []*source.File{file}}}) {
			there := c.Components()
			text, err := c.Use(c.Line("fuzzed", "fuzzed", nil))
			if err != nil {
				assert.ErrorIs(t, err, source.ErrNoPlace)
				continue
			}
			after, err := source.Parse("c.go", text)
			require.NoError(t, err, string(text))
			var found [][]string
			for _, c := range source.Controllers([]source.Folder{{Files: []*source.File{after}}}) {
				found = append(found, c.Components())
			}
			assert.Contains(t, found, append(there, "fuzzed"), string(text))
		}
	})
}
