package proxy_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/tools/envtest/devcluster"
)

// kubectls returns the commands of the kubectl that comes with the control plane, and of the one that is installed, if
// there is one: it may be older.
func kubectls(t *testing.T, dir string) map[string][]string {
	t.Helper()
	binary, err := devcluster.Binary(t.Context(), os.Stderr)
	require.NoError(t, err)
	all := map[string][]string{"built": {binary, "kubectl", "--dir", dir}}
	if installed, err := exec.LookPath("kubectl"); err == nil {
		all["installed"] = []string{installed}
	}
	return all
}

// kubectl works with the kubeconfig of a run.
func TestKubectl(t *testing.T) {
	t.Parallel()
	p := startPlane(t, rule("", "configmaps", "*"), rule("", "pods", "get"), rule("", "pods/exec", "create"))
	p.create(schema.GroupVersionResource{Version: "v1", Resource: "pods"}, object("v1", "Pod", "some", map[string]any{
		"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "image": "a:1"}}},
	}))
	for version, command := range kubectls(t, p.Dir) {
		tom := p.cat("tom-" + version)
		access := p.issue(tom, configMaps)
		home := t.TempDir()
		kubeconfig := filepath.Join(home, "kubeconfig")
		require.NoError(t, os.WriteFile(kubeconfig, access.Kubeconfig(), 0o600))
		name := "from-" + version
		manifest := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {a: VALUE}\n"
		run := func(t *testing.T, input string, arguments ...string) (string, error) {
			t.Helper()
			all := append(append(command[1:len(command):len(command)], "--kubeconfig", kubeconfig), arguments...)
			kubectl := exec.CommandContext(t.Context(), command[0], all...)
			kubectl.Env, kubectl.Stdin = []string{"HOME=" + home, "XDG_CACHE_HOME=" + os.Getenv("XDG_CACHE_HOME")}, strings.NewReader(input)
			var out bytes.Buffer
			kubectl.Stdout, kubectl.Stderr = &out, &out
			err := kubectl.Run()
			return out.String(), err
		}
		owned := func(t *testing.T, name, value string) {
			t.Helper()
			got, err := p.admin.Resource(configMapsOfV1).Namespace(p.Namespace).Get(t.Context(), name, metav1.GetOptions{})
			require.NoError(t, err)
			require.Len(t, got.GetOwnerReferences(), 1)
			assert.Equal(t, tom.GetUID(), got.GetOwnerReferences()[0].UID)
			assert.Equal(t, map[string]any{"a": value}, got.Object["data"])
		}
		for _, row := range []struct {
			reason, input string
			arguments     []string
			want, value   string
		}{
			{"discovery", "", []string{"api-resources", "--api-group=proxy.operkit.dev", "-o", "name"}, "cats.proxy.operkit.dev\nfarms.proxy.operkit.dev\n", ""},
			{"schemas", "", []string{"explain", "configmaps.data"}, "Data contains the configuration data", ""},
			{"the version", "", []string{"version"}, "Server Version: v", ""},
			{"apply creates", strings.ReplaceAll(manifest, "VALUE", "one"), []string{"apply", "-f", "-"}, "configmap/" + name + " created", "one"},
			{"apply changes", strings.ReplaceAll(manifest, "VALUE", "two"), []string{"apply", "-f", "-"}, "configmap/" + name + " configured", "two"},
			{"apply changes nothing", strings.ReplaceAll(manifest, "VALUE", "two"), []string{"apply", "-f", "-"}, "configmap/" + name + " unchanged", "two"},
			{"server-side apply", strings.ReplaceAll(manifest, "VALUE", "three"), []string{"apply", "--server-side", "--force-conflicts", "-f", "-"}, "configmap/" + name + " serverside-applied", "three"},
			{"get, in the namespace of the owner", "", []string{"get", "configmap", name, "-o", "jsonpath={.data.a}"}, "three", "three"},
			{"get as a table", "", []string{"get", "configmap", name}, "DATA", "three"},
			{"patch", "", []string{"patch", "configmap", name, "--type=json", `--patch=[{"op":"replace","path":"/data/a","value":"four"}]`}, "patched", "four"},
			{"replace", strings.ReplaceAll(manifest, "VALUE", "five"), []string{"replace", "-f", "-"}, "replaced", "five"},
			{"what it may do", "", []string{"auth", "can-i", "create", "configmaps"}, "yes\n", "five"},
			{"delete, and wait until it is gone", "", []string{"delete", "configmap", name}, `configmap "` + name + `" deleted`, ""},
			{"server-side apply creates", strings.ReplaceAll(manifest, "VALUE", "six"), []string{"apply", "--server-side", "-f", "-"}, "serverside-applied", "six"},
			{"create in a dry run", "", []string{"create", "configmap", "dry", "--dry-run=server"}, "configmap/dry created (server dry run)", ""},
		} {
			t.Run("hooks 52: "+version+": "+row.reason, func(t *testing.T) {
				got, err := run(t, row.input, row.arguments...)
				require.NoError(t, err, got)
				assert.Contains(t, got, row.want)
				if row.value != "" {
					owned(t, name, row.value)
				}
			})
		}
		for _, row := range []struct {
			reason    string
			arguments []string
			want      string
		}{
			{"exec", []string{"exec", "some", "--", "sh"}, "upgraded connections, such as for exec, attach and port-forward, aren't supported"},
			{"another kind", []string{"create", "secret", "generic", "a"}, "add {apiVersion: v1, kind: Secret} to manages in watches.yaml"},
			{"impersonation", []string{"get", "configmaps", "--as=system:admin"}, "a run can't impersonate"},
			{"a token", []string{"create", "token", "runner"}, "a token would outlive the run"},
			{"other paths", []string{"get", "--raw", "/metrics"}, "a run may reach resources"},
		} {
			t.Run("hooks 52: "+version+": "+row.reason+" is refused, with the reason", func(t *testing.T) {
				got, err := run(t, "", row.arguments...)
				require.Error(t, err)
				assert.Contains(t, got, row.want)
			})
		}
		access.End()
		t.Run("hooks 52: "+version+": after the run", func(t *testing.T) {
			got, err := run(t, "", "get", "configmaps")
			require.Error(t, err)
			assert.Contains(t, got, "You must be logged in to the server")
		})
	}
}
