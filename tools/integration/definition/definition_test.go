package definition

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
)

var (
	workshops   = schema.GroupVersionKind{Group: "definition.operkit.dev", Version: "v1", Kind: "Workshop"}
	tools       = schema.GroupVersionKind{Group: "definition.operkit.dev", Version: "v1", Kind: "Tool"}
	definitions = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
)

const definitionOfTools = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tools.definition.operkit.dev}
spec:
  group: definition.operkit.dev
  scope: Namespaced
  names: {kind: Tool, plural: tools}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// workshop controls Workshops, which are in no namespace: each has a tool in the namespace of the manager, of a kind that nobody else
// defines.
type workshop struct{}

func (workshop) Kind() schema.GroupVersionKind { return workshops }

func (workshop) Setup(_ context.Context, s *reconcile.Session) error {
	hammer := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"weight": "1kg"}}}
	hammer.SetGroupVersionKind(tools)
	hammer.SetName("hammer")
	s.Add("tools", reconcile.YAML(definitionOfTools), hammer)
	return nil
}

// operate runs the operator until the test ends.
func operate(t *testing.T, env *envtest.Env) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	quiet := slog.New(slog.DiscardHandler)
	api, err := cluster.New(ctx, env.Config, cluster.Logger(quiet))
	require.NoError(t, err)
	engine, err := watch.New(api.View(), watch.Logger(quiet), watch.Grace(0))
	require.NoError(t, err)
	manager, err := deploy.NewManager(api, deploy.FieldManager("workshop"), deploy.DefaultNamespace(env.Namespace))
	require.NoError(t, err)
	reconciler, err := reconcile.New(workshop{}, manager, reconcile.WithWatcher(engine), reconcile.Logger(quiet))
	require.NoError(t, err)
	require.NoError(t, engine.Control(workshops, reconciler))
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(t, engine.Run(ctx)) })
	t.Cleanup(func() { stop(); running.Wait(); api.Wait() })
}

func TestComponentThatDefinesItsKind(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.CRDs("testdata/workshop.yaml"), envtest.Rights(envtest.RolesIn("testdata/role.yaml")))
	admin, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	somebody := bystander.New(t, admin, env.Namespace, "somebody")
	t.Cleanup(func() { somebody.Delete(definitions, "tools.definition.operkit.dev") })
	operate(t, env)
	somebody.CreateYAML("{apiVersion: definition.operkit.dev/v1, kind: Workshop, metadata: {name: smithy}}")
	t.Cleanup(func() { somebody.Delete(workshops, "smithy") })

	somebody.Eventually("the workshop becomes Ready", func() bool {
		return status.Conditions(somebody.Get(workshops, "smithy")).IsTrue(status.ConditionReady)
	})
	env.AwaitQuiet(t)
	first := somebody.Get(tools, "hammer")
	require.NotNil(t, first)

	somebody.Delete(tools, "hammer")
	somebody.Eventually("the tool is put back, since its kind is watched by now", func() bool {
		found := somebody.Get(tools, "hammer")
		return found != nil && found.GetUID() != first.GetUID()
	})
	env.AwaitQuiet(t)
	assert.Empty(t, env.Calls(t).With("delete", "deletecollection"), "what is rendered without a namespace isn't pruned in it")
}
