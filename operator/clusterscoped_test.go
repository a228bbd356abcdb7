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
