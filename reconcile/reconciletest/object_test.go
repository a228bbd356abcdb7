package reconciletest

import (
	"context"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func reconcileRef(kind, namespace, name string) deploy.Ref {
	return deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: kind}, Namespace: namespace, Name: name}
}

// typed is what an API struct looks like.
type typed struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Sign string `json:"sign"`
	} `json:"spec"`
}

func TestApplyTakes(t *testing.T) {
	t.Parallel()
	structure := &typed{TypeMeta: metav1.TypeMeta{APIVersion: "example.dev/v1", Kind: "Shop"}, ObjectMeta: metav1.ObjectMeta{Name: "tea"}}
	structure.Spec.Sign = "open"
	plainMap := map[string]any{"apiVersion": "example.dev/v1", "kind": "Shop", "metadata": map[string]any{"name": "tea"}, "spec": map[string]any{"sign": "open", "size": 3}}
	for reason, given := range map[string]any{
		"YAML": tea, "JSON": `{"apiVersion":"example.dev/v1","kind":"Shop","metadata":{"name":"tea"},"spec":{"sign":"open"}}`,
		"an API struct": structure, "a map": plainMap, "an object": Resource(shops, "tea", map[string]any{"sign": "open"}),
		"one with a namespace": "{apiVersion: example.dev/v1, kind: Shop, metadata: {name: tea, namespace: test}, spec: {sign: open}}",
		"several documents":    "---\n" + tea + "\n---\n# nothing\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}\n",
	} {
		t.Run("operator 31: "+reason, func(t *testing.T) {
			t.Parallel()
			h := New(t, market())
			h.Apply(given)
			assert.Empty(t, h.Calls(), "what the test does is no call of the reconcilers")
			h.RunUntilSettled()
			h.Ready("Shop tea", "Shop test/tea", "Shop.example.dev tea")
			sign, _, err := unstructured.NestedString(h.Get("ConfigMap tea-door").Object, "data", "sign")
			require.NoError(t, err)
			assert.Equal(t, "open", sign)
		})
	}
	assert.Equal(t, 3, plainMap["spec"].(map[string]any)["size"], "what is given isn't changed")
}

func TestApplyWritesTheStatus(t *testing.T) {
	t.Parallel()
	t.Run("operator 33: the state of an object is given", func(t *testing.T) {
		t.Parallel()
		h := New(t, market())
		h.Hold("Deployment tea-store")
		h.Apply(tea, "{apiVersion: example.dev/v1, kind: Lease, metadata: {name: a}, status: {conditions: [{type: Ready, status: 'True', reason: Held}]}}")
		assert.Equal(t, "Held", h.Condition("Lease a", "Ready").Reason)
		assert.Empty(t, h.Condition("Lease a", "Other").Reason)
		h.SetStatus("Lease a", map[string]any{"conditions": nil, "holder": "me"})
		assert.Equal(t, map[string]any{"holder": "me"}, h.Get("Lease a").Object["status"])
	})
}

func TestClusterScopedAndOtherNamespaces(t *testing.T) {
	t.Parallel()
	towns := schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Town"}
	h := New(t, Controlling(towns, func(_ context.Context, s *reconcile.Session) error {
		hall := settings("hall", nil)
		hall["metadata"].(map[string]any)["namespace"] = "shop"
		s.Add("hall", hall)
		return nil
	}), Namespace("shop"), Memory(dryrun.AnyKind(towns.GroupKind())))
	h.Apply(Resource(towns, "lima", nil))
	h.RunUntilSettled()
	h.Ready("Town lima")
	h.Created("ConfigMap hall", "ConfigMap shop/hall")
	h.Configured("Town lima status")
	assert.Equal(t, "Town lima", h.Runs()[0].Key.String())
}

func TestStrictSchemas(t *testing.T) {
	t.Parallel()
	h := New(t, market(), Definitions("testdata/crds"))
	h.Apply(tea)
	h.RunUntilSettled()
	h.Ready("Shop tea")
	for reason, row := range map[string]struct{ given, says string }{
		"a field that the definition doesn't know": {"{apiVersion: example.dev/v1, kind: Shop, metadata: {name: a}, spec: {sgn: a}}", "sgn"},
		"a value that doesn't fit":                 {"{apiVersion: example.dev/v1, kind: Shop, metadata: {name: a}, spec: {sign: 3}}", "spec.sign"},
		"a kind that nobody declares":              {"{apiVersion: example.dev/v1, kind: Town, metadata: {name: a}}", "Town"},
		"a namespace that there isn't":             {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: nowhere}}", "nowhere"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			assert.Contains(t, try(t, func(t *trial) { New(t, market(), Definitions("testdata/crds")).Apply(row.given) }), row.says)
		})
	}
}

func TestManagerOptions(t *testing.T) {
	t.Parallel()
	h := New(t, market(), Manager(deploy.FieldManager("shopkeeper")))
	h.Apply(tea)
	h.RunUntilSettled()
	assert.Equal(t, "shopkeeper", h.Get("ConfigMap tea-door").GetManagedFields()[0].Manager)
	assert.False(t, h.Real())
	assert.NotNil(t, h.Cluster())
}

// sayer is a Builder.
type sayer struct{ word string }

func (b sayer) Build(_ context.Context, _ *reconcile.Session, c *reconcile.Component) error {
	c.Add("word", settings(b.word, nil))
	return nil
}

func TestComponentsAlone(t *testing.T) {
	t.Parallel()
	t.Run("operator 31: components without their controller", func(t *testing.T) {
		t.Parallel()
		h := New(t, Components(map[string]reconcile.Builder{"hello": sayer{"hello"}, "bye": sayer{"bye"}}))
		h.Apply(Resource(TestedKind, "it", nil))
		h.RunUntilSettled()
		h.Ready("Tested it")
		h.Created("ConfigMap hello", "ConfigMap bye")
		h.Fail("bye.word", Deploy, request.Precondition("not yet"))
		h.Delete("ConfigMap bye")
		h.RunUntilSettled()
		h.Gone("ConfigMap bye")
	})
}
