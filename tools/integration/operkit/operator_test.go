package operkit

import (
	"debug/elf"
	"os"
	"os/exec"
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
	help := w.run("make", "help")
	assert.Equal(t, help, w.run("make"), "make alone lists what there is")
	phony := regexp.MustCompile(`(?m)^\.PHONY: (.*)$`).FindStringSubmatch(w.files()["Makefile"])
	for target := range strings.FieldsSeq(phony[1]) {
		assert.Regexp(t, `(?m)^  make `+target+` +\w`, help)
	}
	for line := range strings.Lines(help) {
		assert.LessOrEqual(t, len(strings.TrimRight(line, "\n")), 80, line)
	}
	rendered := w.run("go", "run", ".", "render", "-f", "config/samples")
	assert.Contains(t, rendered, "# server: Deployment/my-guestbook-server")
	assert.Contains(t, rendered, "# server: Service/my-guestbook-server")
	w.isStatic()
	w.hasControlPlane()
	w.isClean()
}

// Without components there is something to build, test and run, too.
func TestInitEmpty(t *testing.T) {
	t.Parallel()
	w := newOperator(t, "--empty")
	w.isFine()
	w.isClean()
	w.operkit("add", "component", "cache")
	w.run("make", "golden")
	w.isFine()
}

// isClean holds the operator to its own linters, of the version that this repository uses.
func (w *world) isClean() {
	w.t.Helper()
	lint := filepath.Join(w.t.TempDir(), "golangci-lint")
	build := exec.CommandContext(w.t.Context(), "go", "build", "-o", lint, "github.com/golangci/golangci-lint/v2/cmd/golangci-lint")
	build.Dir, build.Env = "../../lint", append(os.Environ(), "GOWORK=off")
	output, err := build.CombinedOutput()
	require.NoError(w.t, err, string(output))
	assert.Equal(w.t, "0 issues.\n", w.run(lint, "run", "--allow-parallel-runners"))
	version, err := exec.CommandContext(w.t.Context(), "go", "version", "-m", lint).Output()
	require.NoError(w.t, err)
	pinned := regexp.MustCompile(`golangci-lint@(v\S+)`).FindStringSubmatch(w.files()["Makefile"])
	require.NotNil(w.t, pinned)
	assert.Regexp(w.t, `(?m)^\s+(mod|dep)\s+github.com/golangci/golangci-lint/v2\s+`+regexp.QuoteMeta(pinned[1])+`\b`, string(version))
}

// The operator's own test of its rights passes, and fails when a rule is missing.
func TestRights(t *testing.T) {
	t.Parallel()
	w := newOperator(t)
	assert.Contains(t, w.run("make", "test-cluster"), "--- PASS: TestCluster")
	w.edit("config/rbac/role.yaml", "verbs: [create, patch]", "verbs: [create]")
	w.edit("config/rbac/role.yaml", "resources: [events]", "resources: [lambs]")
	output, err := w.try("make", "test-cluster")
	require.Error(t, err)
	assert.Contains(t, output, "config/rbac lacks rights: ")
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
	assert.Regexp(t, `(?m)^server +verified`, status)
	w.kubectl("patch", "guestbook", "my-guestbook", "--type=merge", "-p", `{"spec":{"replicas":3}}`)
	w.kubectl("wait", "--for=jsonpath={.status.readyReplicas}=3", "--timeout=1m", "deployment/my-guestbook-server")
	operator.Stop(t) // SIGTERM to it alone
	assert.Contains(t, operator.Output(), "stopped", "a signal to make ends the operator in good order")

	up := w.run("make", "cluster-up")
	assert.Contains(t, up, "guestbooks.example.com", "it runs: the definitions are brought up to date")
	assert.True(t, strings.HasSuffix(up, "\nNext: `make run` here, and `make sample` in another terminal.\n"), up)
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
