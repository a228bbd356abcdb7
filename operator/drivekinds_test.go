package operator_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile/kinds"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// keeper returns an operator that gives each object of the groups of a suffix a ConfigMap of the same name, whatever
// the kinds are.
func keeper(suffix string) *operator.Operator {
	op := operator.New("keeper")
	op.DriveKinds(kinds.Selector{Group: "*" + suffix}, func(_ context.Context, env watch.Env, _ deploy.ServedKind) (watch.Reconciler, error) {
		return &children{env: env, kinds: []schema.GroupVersionKind{configMaps}, of: cogs}, nil
	}, "patch")
	return op
}

// define installs a definition of a kind in a group of its own, and returns the kind.
func (w *world) define(name, suffix string) schema.GroupVersionKind {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "definition.yaml")
	require.NoError(w.t, os.WriteFile(file, fmt.Appendf(nil, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]ss.%[1]s%[2]s}
spec:
  group: %[1]s%[2]s
  names: {kind: %[1]s, listKind: %[1]sList, plural: %[1]ss, singular: %[1]s}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]`,
		name, suffix), 0o600))
	w.InstallCRDs(w.t, file)
	return schema.GroupVersionKind{Group: name + suffix, Version: "v1", Kind: name}
}

func TestDriveKinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	suffix := "." + w.Namespace + ".dev"
	user := w.User(t, "keeper", envtest.ClusterWide(rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}))
	running := w.run("keeper", keeper(suffix), user, "--namespace", w.Namespace, "--health.address", "127.0.0.1:0", "--metrics.address", "127.0.0.1:0",
		"--watch.filter", "annotation") // which hides no method of the reconcilers
	w.eventually("it is ready without a kind", func() bool {
		code, _ := ask(t, running.address("health.address"), "/readyz")
		return code == http.StatusOK
	})
	metrics := func() string {
		_, page := ask(t, running.address("metrics.address"), "/metrics")
		return page
	}
	says := func(args ...string) (code int, out, log string) {
		var stdout, stderr bytes.Buffer
		code = keeper(suffix).Execute(t.Context(), append(args, "--kubeconfig", w.Kubeconfig(t, user), "-n", w.Namespace), &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}
	tree, bush := w.define("tree", suffix), w.define("bush", suffix)
	for _, kind := range []schema.GroupVersionKind{tree, bush} {
		w.create(fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: my-%[2]s}}", kind.GroupVersion(), kind.Kind))
	}
	w.eventually("kinds that come are reconciled", func() bool { return w.mode("my-tree") == "geared" && w.mode("my-bush") == "geared" })
	w.eventually("and counted", func() bool {
		return strings.Contains(metrics(), `operkit_resources{controller="tree",standing="settled"} 1`)
	})
	t.Run("commands find the kinds", func(t *testing.T) {
		code, out, log := says("status")
		require.Zero(t, code, log)
		assert.Contains(t, out, "my-tree")
		assert.Contains(t, out, "my-bush")
		code, out, log = says("pause", "tree/my-tree")
		require.Zero(t, code, log)
		assert.Equal(t, "tree "+w.Namespace+"/my-tree paused\n", out)
		var stdout, stderr bytes.Buffer
		manifest := file(t, "{apiVersion: "+tree.GroupVersion().String()+", kind: tree, metadata: {name: my-tree}}")
		assert.Equal(t, 2, keeper(suffix).Execute(t.Context(), []string{"render", "-f", manifest}, &stdout, &stderr))
		assert.Contains(t, stderr.String(), "a tree has no components, which this command needs, and this operator controls no kind with components")
	})
	twin := w.define("twin", suffix)
	w.create(fmt.Sprintf("{apiVersion: %s, kind: twin, metadata: {name: my-twin}}", twin.GroupVersion()))
	other := w.define("twin", ".other"+suffix)
	t.Run("a kind of one name in two groups needs its group", func(t *testing.T) {
		w.eventually("both are found", func() bool {
			_, _, log := says("pause", "twin/my-twin")
			return strings.Contains(log, fmt.Sprintf("twin: means %s and %s: add the group", twin.GroupKind(), other.GroupKind())) ||
				strings.Contains(log, fmt.Sprintf("twin: means %s and %s: add the group", other.GroupKind(), twin.GroupKind()))
		})
		code, out, log := says("pause", twin.GroupKind().String()+"/my-twin")
		require.Zero(t, code, log)
		assert.Equal(t, "twin "+w.Namespace+"/my-twin paused\n", out)
	})
	definition := deploy.Ref{Kind: schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, Name: "trees.tree" + suffix}
	require.NoError(t, w.api.Port().Delete(t.Context(), definition, deploy.DeleteOptions{}))
	w.eventually("a kind that goes is forgotten", func() bool { return !strings.Contains(metrics(), `controller="tree",standing`) })
	w.define("tree", suffix)
	w.create(fmt.Sprintf("{apiVersion: %s, kind: tree, metadata: {name: again}}", tree.GroupVersion()))
	w.eventually("and reconciled when it comes back", func() bool { return w.mode("again") == "geared" })
}
