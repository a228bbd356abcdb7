package operkit

import (
	"debug/elf"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/envtest/devcluster"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInit(t *testing.T) {
	t.Parallel()
	w := newOperator(t)
	w.isFine()
	assert.Equal(t, w.run("make", "help"), w.run("make"), "make alone lists what there is")
	for _, target := range regexp.MustCompile(`(?m)^([a-z-]+):.*## `).FindAllStringSubmatch(w.files()["Makefile"], -1) {
		assert.Regexp(t, `(?m)^  make `+target[1]+` +\w`, w.run("make"))
	}
	rendered := w.run("go", "run", ".", "render", "-f", "config/samples")
	assert.Contains(t, rendered, "# server: Deployment/my-guestbook-server")
	assert.Contains(t, rendered, "# server: Service/my-guestbook-server")
	w.isStatic()
	w.hasControlPlane()
}

// hasControlPlane holds that the operator's own tool finds the control plane's program, which is that of the published module: it builds
// that when this machine has none that was built of the same source.
func (w *world) hasControlPlane() {
	w.t.Helper()
	program := strings.TrimSpace(w.run("env", "-u", devcluster.BinaryVariable, "go", "tool", "devcluster", "build"))
	lines := strings.Split(program, "\n")
	assert.FileExists(w.t, lines[len(lines)-1])
}

// isStatic holds the program that the Dockerfile's line builds to what an empty image needs: nothing beside it.
func (w *world) isStatic() {
	w.t.Helper()
	build := regexp.MustCompile(`(?m)^ +(CGO_ENABLED=0 .* go build .*) -o /operator \.$`).FindStringSubmatch(w.files()["Dockerfile"])
	require.NotNil(w.t, build)
	w.run("sh", "-c", "TARGETOS=linux TARGETARCH=amd64; "+build[1]+" -o bin/operator .")
	program, err := elf.Open(filepath.Join(w.dir, "bin", "operator"))
	require.NoError(w.t, err)
	defer func() { _ = program.Close() }() // only read
	for _, part := range program.Progs {
		assert.NotEqual(w.t, elf.PT_INTERP, part.Type, "it needs no loader")
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	w := newOperator(t)
	w.clusterUp()
	operator := w.start("make", "run")
	operator.says(t, "starting")
	w.run("make", "sample")
	status := w.run("bin/guestbook-operator", "status", "my-guestbook", "--kubeconfig", ".cluster/kubeconfig")
	assert.Regexp(t, `(?m)^server +ready`, status)
	w.kubectl("patch", "guestbook", "my-guestbook", "--type=merge", "-p", `{"spec":{"replicas":3}}`)
	w.kubectl("wait", "--for=jsonpath={.status.readyReplicas}=3", "--timeout=1m", "deployment/my-guestbook-server")
	operator.Stop(t) // SIGTERM to it alone
	assert.Contains(t, operator.Output(), "stopped", "a signal to make ends the operator in good order")

	assert.Contains(t, w.run("make", "cluster-up"), "guestbooks.example.com", "it runs: the definitions are brought up to date")
}

// Installed by what is in config the operator has the rights that it needs.
func TestInstalled(t *testing.T) {
	t.Parallel()
	w := newOperator(t)
	w.clusterUp()
	w.kubectl("apply", "-k", "config")
	w.kubectl("rollout", "status", "--timeout=1m", "deployment/guestbook-operator", "-n", "guestbook-operator")
	// No container runs in the control plane: the program runs here as its Pods' account.
	account := w.run("go", "tool", "devcluster", "kubeconfig", "--dir", ".cluster",
		"--user", "system:serviceaccount:guestbook-operator:guestbook-operator", "--group", "system:serviceaccounts", "--group", "system:authenticated")
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "account"), []byte(account), 0o600))
	w.run("make", "build")
	operator := w.start("bin/guestbook-operator", "run", "--kubeconfig", "account",
		"--leader-election.lock", "lease", "--leader-election.namespace", "guestbook-operator")
	operator.says(t, "watching")
	w.run("make", "sample")
	w.kubectl("delete", "-f", "config/samples")
	operator.Stop(t) // SIGTERM to it alone
	assert.NotContains(t, operator.Output(), "forbidden")
	for line := range strings.Lines(operator.Output()) {
		assert.NotContains(t, line, "level=ERROR")
	}
}

// A workspace around the new folder hides it from the go command: that is told, and what helps.
func TestInWorkspace(t *testing.T) {
	t.Parallel()
	w := &world{t, t.TempDir()}
	w.run("go", "work", "init")
	said := w.run("env", "GOWORK=", published.Operkit, "init", "guestbook-operator", "--kind", "Guestbook", "--group", "example.com")
	assert.Contains(t, said, "inside of the Go workspace "+filepath.Join(w.dir, "go.work"))
	assert.Contains(t, said, "run 'go work use .' in the new folder")
	w.dir = filepath.Join(w.dir, "guestbook-operator")
	output, err := w.try("env", "GOWORK=", "go", "list", "./...")
	require.NotContains(t, output, "guestbook-operator/internal", "%v", err)
	w.run("env", "GOWORK=", "go", "work", "use", ".")
	assert.Contains(t, w.run("env", "GOWORK=", "go", "list", "./..."), "guestbook-operator/internal")
}
