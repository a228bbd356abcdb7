package operkit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAdd(t *testing.T) {
	t.Parallel()
	w := newOperator(t)
	const edited = "// Somebody thought about this port.\nconst port = 8888\n"
	w.edit("internal/guestbook/server.go", "const port = 8080\n", edited)

	w.operkit("add", "component", "cache", "--after", "server")
	output, err := w.try("make", "test")
	require.Error(t, err, "the golden file shows the new component")
	assert.Contains(t, output, "+ # component cache\n")
	w.run("make", "golden")
	w.isFine()
	assert.Contains(t, w.files()["internal/guestbook/controller.go"], `s.Use("cache", cache{}).After(s.Component("server"), reconcile.Ready)`)
	again := w.unchangedBy(published.Operkit, "add", "component", "cache", "--after", "server")
	assert.Contains(t, again, "exists    internal/guestbook/controller.go: the component cache")

	w.operkit("add", "kind", "Backup")
	again = w.unchangedBy(published.Operkit, "add", "kind", "Backup")
	assert.Contains(t, again, "exists    api/v1/backup_types.go")
	for line := range strings.Lines(again) {
		assert.Contains(t, line, "exists")
	}
	w.operkit("add", "kind", "Disk", "--group", "storage.example.com", "--version", "v1alpha1")
	w.operkit("add", "kind", "Switch", "--group", "net.example.com")
	w.operkit("add", "component", "range", "--kind", "Switch")
	w.operkit("add", "kind", "Bare", "--group", "example.com", "--empty")
	w.run("make", "golden")
	w.isFine()
	assert.Contains(t, w.files()["internal/guestbook/server.go"], edited, "what was edited is")

	w.clusterUp()
	w.start("make", "run").says(t, "starting")
	assert.Equal(t, 5, strings.Count(w.run("make", "sample"), "condition met"))
}

// Components have all sorts of names, of which Go and its tools know many already.
func TestNamesOfComponents(t *testing.T) {
	t.Parallel()
	w := newOperator(t)
	for _, component := range []string{"func", "string", "context", "resource", "labels", "web-linux", "x-test", "test", "s", "c", "reconcile", "corev1", "port", "settled-costs-nothing"} {
		w.operkit("add", "component", component)
	}
	w.run("make", "golden")
	w.isFine()
}
