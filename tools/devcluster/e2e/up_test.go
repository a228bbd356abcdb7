package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/devcluster/internal/api"
	"github.com/operkit/operkit/tools/devcluster/internal/component"
	"github.com/operkit/operkit/tools/devcluster/internal/state"
)

const widgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.dev}
spec:
  group: example.dev
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// crds writes manifests into a directory.
func crds(t *testing.T, manifests ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i, manifest := range manifests {
		require.NoError(t, os.WriteFile(filepath.Join(dir, string(rune('a'+i))+".yaml"), []byte(manifest), 0o600))
	}
	return dir
}

// TestUp looks at one cluster from all sides, and then ends it.
func TestUp(t *testing.T) {
	t.Parallel()
	c := up(t, "--audit", "--crds", crds(t, widgets), "--feature-gates", "ContextualLogging=false")
	s := c.state()

	t.Run("the state file says what runs", func(t *testing.T) {
		assert.Equal(t, state.Ready, s.Phase)
		assert.True(t, s.Ready)
		assert.Equal(t, c.cmd.Process.Pid, s.SupervisorPID)
		assert.Equal(t, c.dir.AuditLog(), s.AuditLog)
		require.Len(t, s.Components, len(component.All()))
		for _, component := range s.Components {
			assert.True(t, alive(component.PID), component.Name)
			assert.FileExists(t, component.Log)
		}
		code, stdout, _ := devcluster(t, "status", "--dir", string(c.dir), "-o", "json")
		assert.Zero(t, code)
		assert.Equal(t, s, decode[state.State](t, stdout))
		_, stdout, _ = devcluster(t, "status", "--dir", string(c.dir))
		assert.Contains(t, stdout, "cluster in "+string(c.dir)+": ready\n")
		assert.Contains(t, stdout, s.Server)
	})
	t.Run("only the owner reads keys", func(t *testing.T) { requirePrivate(t, string(c.dir)) })
	t.Run("only loopback is listened on, and etcd on no port", func(t *testing.T) { requireLoopback(t, s) })
	t.Run("the fake node is Ready and the default ServiceAccount there", func(t *testing.T) {
		assert.Equal(t, "fake-0 True", c.kubectl("get", "nodes", "-o",
			`jsonpath={.items[*].metadata.name} {.items[*].status.conditions[?(@.type=="Ready")].status}`))
		c.kubectl("get", "serviceaccount", "default")
	})
	t.Run("the version is Kubernetes' own", func(t *testing.T) {
		_, stdout, _ := devcluster(t, "version", "-o", "json")
		version := decode[map[string]string](t, stdout)["kubernetes"]
		assert.Regexp(t, `^v1\.36\.\d+$`, version)
		assert.Equal(t, version, s.Version)
		served := decode[map[string]any](t, c.kubectl("get", "--raw", "/version"))
		assert.Equal(t, version, served["gitVersion"])
		assert.Equal(t, "36", served["minor"])
	})
	t.Run("the program called kubectl is kubectl", func(t *testing.T) { requireKubectlLink(t, c) })
	t.Run("the definitions are established", func(t *testing.T) {
		assert.Equal(t, "No resources found in default namespace.\n", stderrOf(t, c, "get", "widgets"))
	})
	t.Run("feature gates reach the API server", func(t *testing.T) {
		metrics := c.kubectl("get", "--raw", "/metrics")
		assert.Contains(t, metrics, `kubernetes_feature_enabled{name="ContextualLogging",stage="BETA"} 0`)
	})
	t.Run("a Deployment becomes Available", func(t *testing.T) {
		c.kubectl("create", "deployment", "web", "--image=none", "--replicas=2")
		c.kubectl("wait", "--for=condition=Available", "deployment/web", "--timeout=60s")
	})
	t.Run("an owner of a kind given with --crds is collected at once", func(t *testing.T) { requireCollection(t, c) })
	t.Run("users", func(t *testing.T) { testUsers(t, c) })
	t.Run("audit", func(t *testing.T) { testAudit(t, c) })

	begin := time.Now()
	c.signal(os.Interrupt)
	assert.Zero(t, c.wait(stopLimit), c.stderr.String())
	t.Logf("stopped in %s", time.Since(begin).Round(time.Millisecond))
	requireGone(t, c.dir, s)
	assert.Empty(t, c.stderr.String())
	requireProgress(t, c)
}

func requirePrivate(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		require.NoError(t, err)
		shared := info.Mode().Perm() & 0o077
		if entry.IsDir() || entry.Type().IsRegular() || entry.Name() == "control.sock" {
			assert.Zero(t, shared, "%s has mode %s", path, info.Mode())
		}
		return nil
	}))
}

func requireProgress(t *testing.T, c *cluster) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(c.stdout.String()), "\n")
	for _, line := range lines[:len(lines)-1] {
		assert.Regexp(t, `^ *\d+\.\ds \S`, line)
	}
	assert.Contains(t, lines[len(lines)-1], "ready: export KUBECONFIG="+c.dir.Kubeconfig())
}

func requireKubectlLink(t *testing.T, c *cluster) {
	t.Helper()
	link := filepath.Join(t.TempDir(), "kubectl")
	require.NoError(t, os.Symlink(binary, link))
	code, stdout, stderr := runProgram(t, link, []string{"OPERKIT_DEVCLUSTER=" + string(c.dir)}, "get", "namespaces", "-o", "name")
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "namespace/kube-system\n")
}

func stderrOf(t *testing.T, c *cluster, arguments ...string) string {
	t.Helper()
	code, _, stderr := devcluster(t, append([]string{"--dir", string(c.dir), "kubectl"}, arguments...)...)
	require.Zero(t, code, stderr)
	return stderr
}

// requireCollection deletes the owner of a ConfigMap and waits for the garbage collector. It knows
// kinds from its start on; of those that come later it hears every 30 seconds.
func requireCollection(t *testing.T, c *cluster) {
	t.Helper()
	admin := adminOf(t, c)
	var owner struct{ Metadata struct{ UID string } }
	widget := map[string]any{"apiVersion": "example.dev/v1", "kind": "Widget", "metadata": map[string]any{"name": "owner"}}
	require.NoError(t, admin.Create(t.Context(), "/apis/example.dev/v1/namespaces/default/widgets", widget, &owner))
	owned := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
		"name":            "owned",
		"ownerReferences": []any{map[string]any{"apiVersion": "example.dev/v1", "kind": "Widget", "name": "owner", "uid": owner.Metadata.UID}},
	}}
	const maps = "/api/v1/namespaces/default/configmaps"
	require.NoError(t, admin.Create(t.Context(), maps, owned, nil))
	begin := time.Now()
	require.NoError(t, admin.Delete(t.Context(), "/apis/example.dev/v1/namespaces/default/widgets/owner"))
	require.Eventually(t, func() bool { return api.IsNotFound(admin.Get(t.Context(), maps+"/owned", nil)) }, 20*time.Second, interval)
	t.Logf("collected in %s", time.Since(begin).Round(time.Millisecond))
}

func adminOf(t *testing.T, c *cluster) *api.Client {
	t.Helper()
	raw, err := os.ReadFile(c.dir.Kubeconfig())
	require.NoError(t, err)
	return client(t, string(raw))
}
