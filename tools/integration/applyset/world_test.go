package applyset

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/integration/internal/kubectl"
)

// TestMain switches on what kubectl calls alpha.
func TestMain(m *testing.M) {
	if err := os.Setenv("KUBECTL_APPLYSET", "true"); err != nil {
		panic(err)
	}
	m.Run()
}

const (
	settings = "{apiVersion: v1, kind: ConfigMap, metadata: {name: $name}, data: {a: b}}"
	account  = "{apiVersion: v1, kind: ServiceAccount, metadata: {name: $name}}"
	web      = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: $name}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: "x:1"}]}`
)

var (
	secrets = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	configs = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

// world is what one test has: a namespace, in which both we and kubectl keep sets.
type world struct {
	env     *envtest.Env
	manager *deploy.Manager
	kubectl kubectl.Kubectl
}

// newWorld has us as the test's own user, who may do everything in its namespace.
func newWorld(t *testing.T) *world {
	t.Helper()
	env := envtest.Start(t)
	return worldOf(t, env, env.Config)
}

func worldOf(t *testing.T, env *envtest.Env, config *rest.Config) *world {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c, err := cluster.New(ctx, config, cluster.Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	t.Cleanup(func() {
		cancel()
		c.Wait()
	})
	manager, err := deploy.NewManager(c, deploy.DefaultNamespace(env.Namespace))
	require.NoError(t, err)
	return &world{env: env, manager: manager, kubectl: kubectl.For(t, env)}
}

// set is the set of the Secret folder, kept as kubectl does.
func (w *world) set() deploy.ApplySet {
	return deploy.ApplySet{Parent: deploy.Ref{Namespace: w.env.Namespace, Name: "folder"}, Tooling: "kubectl/v1.36.3"}
}

// object is a manifest with that name.
func object(t *testing.T, manifest, name string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(strings.ReplaceAll(manifest, "$name", name)), &obj.Object))
	return obj
}

// apply has us apply objects as a set. It returns those that were pruned, as kubectl names them, ascending.
func (w *world) apply(t *testing.T, set deploy.ApplySet, objects []*unstructured.Unstructured, options ...deploy.Option) []string {
	t.Helper()
	results, err := w.manager.ApplySet(t.Context(), set, objects, options...)
	require.NoError(t, err)
	var pruned []string
	for _, member := range results.Pruned {
		require.Equal(t, deploy.Removed, member.Action, member.Ref)
		pruned = append(pruned, kubectlName(member.Ref))
	}
	slices.Sort(pruned)
	return pruned
}

// kubectlName is how kubectl calls an object in what it prints.
func kubectlName(ref deploy.Ref) string {
	kind := strings.ToLower(ref.Kind.Kind)
	if ref.Kind.Group != "" {
		kind += "." + ref.Kind.Group
	}
	return kind + "/" + ref.Name
}

// run has kubectl apply objects as the set of a parent.
func (w *world) run(t *testing.T, parent string, objects []*unstructured.Unstructured, flags ...string) kubectl.Answer {
	t.Helper()
	dir := t.TempDir()
	for _, obj := range objects {
		content, err := yaml.Marshal(obj.Object)
		require.NoError(t, err)
		file := filepath.Join(dir, strings.ToLower(obj.GetKind())+"-"+obj.GetName()+".yaml")
		require.NoError(t, os.WriteFile(file, content, 0o600))
	}
	args := append([]string{"apply", "--server-side", "--prune", "--applyset", parent, "-f", dir}, flags...)
	answer, err := w.kubectl.Run(t.Context(), args...)
	require.NoError(t, err)
	return answer
}

// kubectlApplies has kubectl apply objects as the set of the Secret folder. It returns those that were pruned, ascending.
func (w *world) kubectlApplies(t *testing.T, objects []*unstructured.Unstructured, flags ...string) []string {
	t.Helper()
	answer := w.run(t, "folder", objects, flags...)
	require.Zero(t, answer.Code, "%s", answer)
	var pruned []string
	for line := range strings.Lines(answer.Stdout) {
		if name, rest, _ := strings.Cut(line, " "); strings.HasPrefix(rest, "pruned") {
			pruned = append(pruned, name)
		}
	}
	slices.Sort(pruned)
	return pruned
}

// get reads an object from the cluster itself; nil when it is absent.
func (w *world) get(t *testing.T, ref deploy.Ref) *unstructured.Unstructured {
	t.Helper()
	obj, err := w.manager.Get(t.Context(), ref)
	require.NoError(t, err)
	return obj
}

// named is the reference to an object in the test's namespace.
func (w *world) named(kind schema.GroupVersionKind, name string) deploy.Ref {
	return deploy.Ref{Kind: kind, Namespace: w.env.Namespace, Name: name}
}

// remembers fails the test unless the parent says that there are members of these kinds.
func (w *world) remembers(t *testing.T, set deploy.ApplySet, kinds string) {
	t.Helper()
	parent := w.get(t, w.named(secrets, "folder"))
	require.NotNil(t, parent)
	require.Equal(t, set.ID(), parent.GetLabels()[deploy.SetIDLabel])
	require.Equal(t, kinds, parent.GetAnnotations()[deploy.SetKindsAnnotation])
}
