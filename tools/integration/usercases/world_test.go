package usercases

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/program"
)

// user is the field manager of whoever uses the operator.
const user = "somebody"

// namespaces are those of the cases, except for the one of two flavours, which has operators of its own.
var namespaces = []string{"default", "explicit-null", "quo", "d-other"}

// flavoursNamespace has two operators, which render different values.
const flavoursNamespace = "flavours"

// world is a control plane of the test's own, because the cases have policies and storage classes, and an operator that
// watches the namespaces of the cases.
type world struct {
	*envtest.Env
	port deploy.Port
	lost losses
}

func newWorld(t *testing.T) *world {
	t.Helper()
	env := envtest.Start(t, envtest.OwnCluster(), envtest.CRDs("testdata/crds"))
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	w := &world{Env: env, port: api.Port()}
	everywhere := bystander.New(t, api, "", user)
	for _, name := range append(namespaces[1:], flavoursNamespace) {
		everywhere.CreateYAML("{apiVersion: v1, kind: Namespace, metadata: {name: " + name + "}}")
	}
	w.operate(t, w.operator(t, "operator"), strings.Join(namespaces, ","), "CRATE=1")
	return w
}

// operator is a user with all rights, as whom an operator runs.
func (w *world) operator(t *testing.T, name string) *envtest.User {
	t.Helper()
	return w.User(t, name, envtest.ClusterWide(rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}))
}

// operate runs the operator on namespaces until the test ends.
func (w *world) operate(t *testing.T, as *envtest.User, namespaces string, variables ...string) {
	t.Helper()
	command := program.Command("run", "--namespace", namespaces, "--kubeconfig", w.Kubeconfig(t, as))
	command.Env = append(os.Environ(), variables...)
	program.Start(t, command)
}
