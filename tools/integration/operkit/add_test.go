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

// What the API server asks the operator for is built, tested, and called by a real API server.
func TestAddWebhookAndVersion(t *testing.T) {
	t.Parallel()
	w := newOperator(t)
	said := w.operkit("add", "webhook", "Guestbook")
	for line := range strings.Lines(said) {
		assert.LessOrEqual(t, len(strings.TrimRight(line, "\n")), 80, line)
	}
	again := w.unchangedBy(published.Operkit, "add", "webhook", "Guestbook")
	assert.Contains(t, again, "exists    the program's webhooks of example.com/guestbook-operator/internal/guestbook\n")

	w.operkit("add", "version", "Guestbook", "v2")
	w.isFine()
	definition := w.files()["config/crd/example.com_guestbooks.yaml"]
	assert.Regexp(t, `(?s)name: v1\n.*served: true\n    storage: true\n.*name: v2\n.*served: true\n    storage: false\n`, definition)
	w.unchangedBy(published.Operkit, "add", "version", "Guestbook", "v2")
	w.unchangedBy(published.Operkit, "add", "conversion", "Guestbook")

	w.edit("api/v2/guestbook_types.go", "Replicas int32 `json:\"replicas\"`", "Size int32 `json:\"size\"`")
	output, err := w.try("make", "test")
	require.Error(t, err, "the functions have to follow")
	assert.Contains(t, output, "internal/guestbook/conversion_v1.go")
	w.edit("internal/guestbook/conversion_v1.go", "to.Spec.Replicas = from.Spec.Replicas", "to.Spec.Size = from.Spec.Replicas")
	w.edit("internal/guestbook/conversion_v1.go", "to.Spec.Replicas = from.Spec.Replicas", "to.Spec.Replicas = from.Spec.Size")
	w.run("make", "generate")
	w.run("make", "test")
	assert.Contains(t, w.run("make", "test-cluster"), "--- PASS: TestCluster")
	w.isClean()

	w.clusterUp()
	operator := w.start("make", "run")
	operator.says(t, "watching")
	w.run("make", "sample")
	w.kubectl("wait", "--for=jsonpath={.spec.size}=2", "--timeout=1m", "guestbooks.v2.example.com/my-guestbook")
	w.kubectl("patch", "guestbooks.v2.example.com/my-guestbook", "--type=merge", "-p", `{"spec":{"size":3}}`)
	w.kubectl("wait", "--for=jsonpath={.status.readyReplicas}=3", "--timeout=1m", "deployment/my-guestbook-server")
	assert.NotEmpty(t, w.kubectl("get", "guestbook", "my-guestbook", "-o", `jsonpath={.metadata.annotations.example\.com/creator}`))
	output, err = w.try("go", "tool", "devcluster", "kubectl", "--dir", ".cluster", "annotate", "--overwrite", "guestbook/my-guestbook", "example.com/creator=joe")
	require.Error(t, err)
	assert.Contains(t, output, "metadata.annotations[example.com/creator]: Forbidden: the creator can't be changed")
	operator.Stop(t) // SIGTERM to it alone
}
