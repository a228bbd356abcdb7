package operator_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ministry controls gadgets as if they lived in no namespace, and says none for what it has.
type ministry struct{ nation }

func (ministry) Setup(ctx context.Context, s *reconcile.Session) error {
	seed, err := s.Generated(ctx, "seal", "seed", func() (string, error) { return "made", nil })
	s.Add("seal", map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "seal"}, "stringData": map[string]any{"seed": seed},
	})
	return err
}

// What a cluster-scoped resource has without a namespace is where the operator says.
func TestDefaultNamespace(t *testing.T) {
	t.Parallel()
	says := func(options ...operator.Option) (code int, stdout, stderr string) {
		op := operator.New("ministry-operator", options...)
		op.Control(ministry{})
		var out, log bytes.Buffer
		path := file(t, "apiVersion: operator.operkit.dev/v1\nkind: Gadget\nmetadata: {name: one}\n")
		code = op.Execute(t.Context(), []string{"render", "-f", path}, &out, &log)
		return code, out.String(), log.String()
	}
	code, out, log := says(operator.Manager(deploy.DefaultNamespace("capital")))
	assert.Zero(t, code, log)
	assert.Contains(t, out, "namespace: capital")
	code, _, log = says()
	assert.Equal(t, 1, code)
	assert.Contains(t, log, "Secret seal: generate seed: a cluster-scoped resource needs a namespace for it")
}

// nation controls gadgets as if they lived in no namespace.
type nation struct{}

func (nation) Kind() schema.GroupVersionKind { return gadgets }

func (nation) Scope() deploy.Scope { return deploy.ClusterScoped }

func (nation) Setup(_ context.Context, s *reconcile.Session) error {
	s.Add("store", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": s.Name(), "namespace": "shop"}})
	return nil
}

func TestClusterScopedWithoutACluster(t *testing.T) {
	t.Parallel()
	says := func(metadata string, args ...string) (code int, stdout, stderr string) {
		op := operator.New("nation-operator")
		op.Control(nation{})
		var out, log bytes.Buffer
		path := file(t, "apiVersion: operator.operkit.dev/v1\nkind: Gadget\nmetadata: "+metadata+"\n")
		code = op.Execute(t.Context(), append(args, "-f", path), &out, &log)
		return code, out.String(), log.String()
	}
	code, out, log := says("{name: one}", "render")
	assert.Zero(t, code, log)
	assert.Contains(t, out, "namespace: shop", "its controller says that it is in no namespace, so it may own what is in one")
	code, out, log = says("{name: one}", "graph", "-o", "svg")
	assert.Zero(t, code, log)
	assert.Contains(t, out, ">store</text>")
	code, _, log = says("{name: one, namespace: shop}", "render")
	assert.Equal(t, 1, code)
	assert.Contains(t, log, "metadata.namespace: Forbidden")
}
