package main

import (
	"testing"

	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The resources, as kubectl names them.
const (
	inV1 = "shops.v1.examples.operkit.dev"
	inV2 = "shops.v2.examples.operkit.dev"
)

const teaV1 = `{apiVersion: examples.operkit.dev/v1, kind: Shop, metadata: {name: tea}, spec: {size: 2, colour: green}}`

// A shop is written through both versions, while the operator uses the second one: each write changes what it means to
// change, and nothing else.
func TestVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, definition)
	w.start()
	w.Eventually("the operator is ready", w.ready)
	w.street("high-street", "green,blue,red")
	w.ok(teaV1, "apply", "--server-side", "--field-manager", "joe", "-f", "-")
	w.settled("tea")

	steps := []struct {
		reason, input string
		args          []string
		path          []string
		want          any
	}{
		{"v1 can't hold the street", `{"spec":{"street":"high-street"}}`, []string{"patch", inV2, "tea", "--type=merge", "-p"}, []string{"spec", "street"}, "high-street"},
		{"a renamed field, by an edit through v1", `{"spec":{"size":3}}`, []string{"patch", inV1, "tea", "--type=merge", "-p"}, []string{"spec", "replicas"}, int64(3)},
		{"a moved field, by an edit through v1", `{"spec":{"colour":"blue"}}`, []string{"patch", inV1, "tea", "--type=merge", "-p"}, []string{"spec", "appearance", "colour"}, "blue"},
		{"an edit through v2", `{"spec":{"appearance":{"colour":"red"}}}`, []string{"patch", inV2, "tea", "--type=merge", "-p"}, []string{"spec", "appearance", "colour"}, "red"},
		{"a label through v1", `{"metadata":{"labels":{"owner":"joe"}}}`, []string{"patch", inV1, "tea", "--type=merge", "-p"}, []string{"metadata", "labels", "owner"}, "joe"},
	}
	for _, step := range steps {
		want := w.whole("tea")
		assert.NoError(t, unstructured.SetNestedField(want, step.want, step.path...))
		w.ok("", append(step.args, step.input)...)
		w.settled("tea")
		assert.Equal(t, specOf(want), specOf(w.whole("tea")), step.reason)
	}

	t.Run("server-side apply through v1", func(t *testing.T) {
		want := w.whole("tea")
		assert.NoError(t, unstructured.SetNestedField(want, int64(4), "spec", "replicas"))
		w.ok(`{apiVersion: examples.operkit.dev/v1, kind: Shop, metadata: {name: tea}, spec: {size: 4}}`, "apply", "--server-side", "--force-conflicts", "--field-manager", "joe", "-f", "-")
		w.settled("tea")
		assert.Equal(t, specOf(want), specOf(w.whole("tea")))
	})

	t.Run("kubectl get in both versions", func(t *testing.T) {
		assert.Regexp(t, `NAME +SIZE +COLOUR +READY\ntea +4 +red +True`, w.ok("", "get", inV1))
		assert.Regexp(t, `NAME +REPLICAS +COLOUR +STREET +READY\ntea +4 +red +high-street +True`, w.ok("", "get", inV2))
		old := w.get(inV1, "tea")
		assert.Equal(t, map[string]any{"size": 4.0, "colour": "red"}, old["spec"])
		assert.Equal(t, w.get(inV2, "tea")["status"], old["status"])
	})

	t.Run("settled", func(t *testing.T) {
		w.settled("tea")
		mark := w.Mark(t)
		w.ok("", "get", inV1)
		w.ok("", "label", inV1, "tea", "visited=yes")
		w.settled("tea")
		// Discovery isn't a call for a resource: it follows the definitions of the cluster.
		calls := w.CallsSince(t, mark, w.operator).Filter(func(c audit.Call) bool { return c.Resource != "" })
		assert.Empty(t, calls, "calls of the operator")
	})
}

// specOf returns an object without its status, which follows.
func specOf(object map[string]any) map[string]any {
	delete(object, "status")
	return object
}

// What is refused, and by whom.
func TestRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, definition)
	w.start()
	w.Eventually("the operator is ready", w.ready)
	w.street("high-street", "green,blue")
	w.ok(`{apiVersion: examples.operkit.dev/v2, kind: Shop, metadata: {name: tea}, spec: {replicas: 4, street: high-street}}`, "create", "-f", "-")
	colour, _, _ := unstructured.NestedString(w.stored("tea").Object, "spec", "appearance", "colour")
	assert.Equal(t, "green", colour, "the first colour of the street")
	for _, row := range []struct{ reason, resource, patch, want string }{
		{"a rule of the definition", inV2, `{"spec":{"replicas":1}}`, "spec.replicas: Forbidden: a shop shrinks by half at most"},
		{"the same in v1", inV1, `{"spec":{"size":1}}`, "spec.size: Forbidden: a shop shrinks by half at most"},
		{"the policy", inV2, `{"spec":{"appearance":{"colour":"plaid"}}}`, "no plaid shops"},
		{"the policy, through v1", inV1, `{"spec":{"colour":"plaid"}}`, "no plaid shops"},
		{"the validator", inV2, `{"spec":{"appearance":{"colour":"red"}}}`, `spec.appearance.colour: Unsupported value: "red": supported values: "green", "blue"`},
		{"the validator, through v1", inV1, `{"spec":{"colour":"red"}}`, `spec.appearance.colour: Unsupported value: "red": supported values: "green", "blue"`},
		{"the validator: no such street", inV2, `{"spec":{"street":"low-street"}}`, `spec.street: Not found: "low-street"`},
	} {
		result := w.run("", "patch", row.resource, "tea", "--type=merge", "-p", row.patch)
		assert.NotZero(t, result.Code, row.reason)
		assert.Contains(t, result.Output(), row.want, row.reason)
	}
}
