package main

import (
	"net/http"
	"os"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

func TestMain(m *testing.M) {
	program.Main(main)
	os.Exit(m.Run())
}

var (
	bakeries    = Bakery{}.Kind()
	patches     = schema.GroupVersionKind{Group: "oper8.org", Version: "v1", Kind: "TemporaryPatch"}
	configMaps  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	services    = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
)

// world is a namespace of a real control plane, the user of the operator, somebody else: the administrator, and oper8
// as it was.
type world struct {
	*envtest.Env
	*bystander.Bystander
	t        *testing.T
	api      deploy.Cluster
	operator *envtest.User
	oper8    *bystander.Bystander
	// started is when the operator was.
	started envtest.Mark
}

func newWorld(t *testing.T) *world {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("config/crd"))
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	return &world{
		Env: env, t: t, api: api, operator: env.User(t, "operator", envtest.RolesIn("config/rbac")),
		Bystander: bystander.New(t, api, env.Namespace, "kubectl"), oper8: bystander.New(t, api, env.Namespace, "oper8"),
	}
}

// start runs the operator until the test ends, in the environment that it had as oper8's.
func (w *world) start() *program.Process {
	w.t.Helper()
	w.started = w.Mark(w.t)
	command := program.Command("run")
	command.Env = append(os.Environ(), "KUBECONFIG="+w.Kubeconfig(w.t, w.operator), "WATCH_NAMESPACE="+w.Namespace, "LOG_JSON=true")
	return program.Start(w.t, command)
}

// run runs a command of the operator, and returns what it prints.
func (w *world) run(args ...string) string {
	w.t.Helper()
	return program.Run(w.t, program.Command(append(args, "--kubeconfig", w.Kubeconfig(w.t, w.operator))...)).Output()
}

// object is that of a text, in the world's namespace.
func (w *world) object(text string) *unstructured.Unstructured {
	w.t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(w.t, yaml.Unmarshal([]byte(text), &obj.Object))
	obj.SetNamespace(w.Namespace)
	return obj
}

// writes are those of the operator since it was started, without the events that it told, and without what the API
// server refused because somebody else, such as the Deployment's controller, had just written another state: the
// operator tries that again.
func (w *world) writes() audit.Calls {
	w.t.Helper()
	return w.CallsSince(w.t, w.started, w.operator).Writes().Filter(func(c audit.Call) bool {
		return c.Resource != "events" && c.Code != http.StatusConflict
	})
}

// settled waits until the bakery is Ready as it is now, and the operator hasn't written for a while.
func (w *world) settled(name string) {
	w.t.Helper()
	w.Eventually("the bakery is ready", func() bool {
		bakery := w.Get(bakeries, name)
		ready, _ := status.Conditions(bakery).Get(status.ConditionReady)
		updating, _ := status.Conditions(bakery).Get(status.ConditionUpdating)
		return ready.Status == "True" && updating.Status == "False" && ready.ObservedGeneration == bakery.GetGeneration()
	})
	w.AwaitQuiet(w.t, w.operator)
}
