package name_test

import (
	"go/token"
	"slices"
	"testing"

	"github.com/operkit/operkit/tools/operkit/internal/name"
	"github.com/stretchr/testify/assert"
)

func taken(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

func TestNamesOfKinds(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, kind, singular, plural, pkg string }{
		{"the usual", "Guestbook", "guestbook", "guestbooks", "guestbook"},
		{"several words", "GuestBookPage", "guestbookpage", "guestbookpages", "guestbookpage"},
		{"an ending that changes", "Policy", "policy", "policies", "policy"},
		{"an s", "Ingress", "ingress", "ingresses", "ingress"},
		{"one form", "Sheep", "sheep", "sheep", "sheep"},
		{"a keyword of Go", "Switch", "switch", "switches", "switchcontroller"},
		{"a package that the program imports", "Full", "full", "fulls", "fullcontroller"},
		{"a name that is a function's alone", "Init", "init", "inits", "initcontroller"},
		{"a folder that Go leaves out", "Vendor", "vendor", "vendors", "vendorcontroller"},
	} {
		assert.Equal(t, row.singular, name.Singular(row.kind), row.reason)
		assert.Equal(t, row.plural, name.Plural(row.kind), row.reason)
		assert.Equal(t, row.pkg, name.Package(row.kind), row.reason)
		assert.False(t, token.IsKeyword(name.Package(row.kind)), row.reason)
	}
}

func TestNamesOfComponents(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, component string
		taken             []string
		file, typ         string
	}{
		{"the usual", "cache", nil, "cache", "cache"},
		{"words", "web-front", nil, "webfront", "webFront"},
		{"no test, for Go", "x-test", nil, "xtest", "xTest"},
		{"not for Linux alone", "web-linux", nil, "weblinux", "webLinux"},
		{"a keyword", "func", nil, "func", "funcComponent"},
		{"a type of Go's own", "string", nil, "string", "stringComponent"},
		{"a name that is a function's alone", "init", nil, "init", "initComponent"},
		{"taken", "cache", []string{"cache"}, "cache", "cacheComponent"},
		{"taken twice", "cache", []string{"cache", "cacheComponent"}, "cache", "cacheComponent2"},
		{"a digit first in its second word", "web-2", nil, "web2", "web2"},
	} {
		assert.Equal(t, row.file, name.File(row.component), row.reason)
		assert.Equal(t, row.typ, name.Type(row.component, taken(row.taken...)), row.reason)
	}
	assert.Equal(t, "TestWebFront", name.Test("web-front", taken()))
	assert.Equal(t, "TestWebFront2", name.Test("web-front", taken("TestWebFront")))
	assert.Equal(t, "backup", name.Import("backup", taken()))
	assert.Equal(t, "backupcontroller", name.Import("backup", taken("backup")))
}
