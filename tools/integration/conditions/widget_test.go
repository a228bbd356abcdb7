package conditions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/integration/internal/kubectl"
)

const (
	manager  = "integration"
	patience = time.Minute
)

var group = schema.GroupVersion{Group: "integration.operkit.dev", Version: "v1"}

// world is what one test has: an object, who writes its status, and kubectl.
type world struct {
	// named is the object for kubectl: with its group, since other tests may define a Widget too.
	named   string
	env     *envtest.Env
	client  dynamic.ResourceInterface
	kubectl kubectl.Kubectl
}

// newWorld has a widget, whose conditions are those of meta/v1.
func newWorld(t *testing.T) *world {
	t.Helper()
	return worldOf(t, "testdata/widget.yaml", "Widget", "widgets")
}

func worldOf(t *testing.T, definition, kind, resource string) *world {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs(definition))
	client, err := dynamic.NewForConfig(env.Config)
	require.NoError(t, err)
	objects := client.Resource(group.WithResource(resource)).Namespace(env.Namespace)
	w := &world{resource + "." + group.Group + "/it", env, objects, kubectl.For(t, env)}
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(1)}}}
	object.SetGroupVersionKind(group.WithKind(kind))
	object.SetName("it")
	_, err = w.client.Create(t.Context(), object, metav1.CreateOptions{})
	require.NoError(t, err)
	return w
}

func (w *world) get(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	widget, err := w.client.Get(t.Context(), "it", metav1.GetOptions{})
	require.NoError(t, err)
	return widget
}

// set puts conditions into the widget as a controller does that has just seen its newest generation, and writes what is
// new. It tells whether anything was.
func (w *world) set(t *testing.T, form status.PatchForm, conditions ...metav1.Condition) (written bool) {
	t.Helper()
	before := w.get(t)
	after := before.DeepCopy()
	var owned []string
	for _, c := range conditions {
		c.ObservedGeneration = after.GetGeneration()
		status.Conditions(after).Set(time.Now(), c)
		owned = append(owned, c.Type)
	}
	require.NoError(t, status.Conditions(after).Err())
	require.NoError(t, unstructured.SetNestedField(after.Object, after.GetGeneration(), "status", "observedGeneration"))
	patch, err := status.Patch(before, after, form, owned...)
	require.NoError(t, err)
	if patch == nil {
		return false
	}
	w.send(t, form, patch)
	return true
}

// send sends a patch of the status.
func (w *world) send(t *testing.T, form status.PatchForm, patch map[string]any) {
	t.Helper()
	require.NoError(t, w.try(t, form, patch))
}

// try sends a patch of the status that may be refused.
func (w *world) try(t *testing.T, form status.PatchForm, patch map[string]any) error {
	t.Helper()
	document, err := json.Marshal(patch)
	require.NoError(t, err)
	kind, options := types.MergePatchType, metav1.PatchOptions{FieldManager: manager}
	if form == status.ServerSideApply {
		force := true
		kind, options.Force = types.ApplyPatchType, &force
	}
	_, err = w.client.Patch(t.Context(), "it", kind, document, options, "status")
	return err
}

// says asks kubectl without waiting whether a condition is met.
func (w *world) says(t *testing.T, condition string) bool {
	t.Helper()
	answer, err := w.kubectl.Run(t.Context(), "wait", "--for=condition="+condition, w.named, "--timeout=0")
	require.NoError(t, err)
	if strings.Contains(answer.Stdout, "condition met") {
		return true
	}
	require.Contains(t, answer.Stderr, "condition not met", "%v", answer)
	return false
}

// waited is the object with which kubectl stopped to wait.
type waited struct {
	object *unstructured.Unstructured
	err    error
}

// await lets kubectl wait for the condition Ready.
func (w *world) await(ctx context.Context) <-chan waited {
	done := make(chan waited, 1)
	go func() {
		answer, err := w.kubectl.Run(ctx, "wait", "--for=condition=Ready", w.named, "--output=json", "--timeout="+patience.String())
		object := &unstructured.Unstructured{}
		switch {
		case err != nil:
		case answer.Code != 0:
			err = fmt.Errorf("kubectl wait: %s", answer)
		default:
			err = object.UnmarshalJSON([]byte(answer.Stdout))
		}
		done <- waited{object, err}
	}()
	return done
}
