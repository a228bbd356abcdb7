package explore

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestTamper(t *testing.T) {
	for _, row := range []struct{ reason, object, want string }{
		{"a text", `{data: {a: x, b: y}}`, `{data: {a: xx, b: y}}`},
		{"a number below", `{spec: {template: {size: 2}}}`, `{spec: {template: {size: 3}}}`},
		{"yes and no", `{spec: {open: true}}`, `{spec: {open: false}}`},
		{"base64 stays base64", `{kind: Secret, data: {a: eA==}}`, `{kind: Secret, data: {a: eHh4eA==}}`},
		{"a fraction", `{spec: {share: 0.5}}`, `{spec: {share: 1.5}}`},
		{"a list", `{spec: {list: [1, 2], size: 2}}`, `{spec: {list: [2, 2], size: 2}}`},
		{"an object in a list", `{rules: [{verbs: [get], paths: []}]}`, `{rules: [{verbs: [getx], paths: []}]}`},
		{"nothing to change", `{spec: {list: []}}`, `{spec: {list: []}}`},
	} {
		t.Run("explore 15: a field of the operator is changed: "+row.reason, func(t *testing.T) {
			obj := parsed(t, row.object)
			manage(t, obj, "operator")
			tamper(obj)
			obj.SetManagedFields(nil)
			delete(obj.Object, "metadata")
			assert.Equal(t, parsed(t, row.want).Object, obj.Object)
		})
		t.Run("explore 15: a field of somebody else isn't: "+row.reason, func(t *testing.T) {
			obj := parsed(t, row.object)
			manage(t, obj, "reconciletest")
			before := obj.DeepCopy()
			tamper(obj)
			assert.Equal(t, before, obj)
		})
	}
}

func TestTamperTwice(t *testing.T) {
	t.Run("explore 15: a field that was changed already is changed again", func(t *testing.T) {
		obj := parsed(t, `{spec: {replicas: 1, title: x}}`)
		obj.SetManagedFields([]metav1.ManagedFieldsEntry{
			{Manager: "operator", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:title":{}}}`)},
			{Manager: "reconciletest", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`)},
		})
		tamper(obj)
		delete(obj.Object, "metadata")
		assert.Equal(t, parsed(t, `{spec: {replicas: 2, title: x}}`).Object, obj.Object)
	})
}

func TestTamperWithItems(t *testing.T) {
	for _, row := range []struct{ reason, owned, object, want string }{
		{
			"the image of a container, not its name", `{"f:spec":{"f:list":{"k:{\"name\":\"b\"}":{".":{},"f:name":{},"f:image":{}}}}}`,
			`{spec: {list: [{name: a, image: x}, {name: b, image: z}]}}`, `{spec: {list: [{name: a, image: x}, {name: b, image: zx}]}}`,
		},
		{
			"a port by its number", `{"f:spec":{"f:list":{"k:{\"port\":80}":{".":{},"f:port":{},"f:target":{}}}}}`,
			`{spec: {list: [{port: 80, target: 8080}]}}`, `{spec: {list: [{port: 80, target: 8081}]}}`,
		},
		{"an item of a set is removed", `{"f:spec":{"f:list":{"v:\"b\"":{}}}}`, `{spec: {list: [a, b]}}`, `{spec: {list: [a]}}`},
		{"an item that is gone", `{"f:spec":{"f:list":{"v:\"b\"":{}}}}`, `{spec: {list: [a]}}`, `{spec: {list: [a]}}`},
		{"a field that is gone", `{"f:spec":{"f:size":{}}}`, `{spec: {list: [a]}}`, `{spec: {list: [a]}}`},
	} {
		t.Run("explore 15: a list of the operator is changed: "+row.reason, func(t *testing.T) {
			obj := parsed(t, row.object)
			obj.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "operator", FieldsV1: metav1.NewFieldsV1(row.owned)}})
			tamper(obj)
			delete(obj.Object, "metadata")
			assert.Equal(t, parsed(t, row.want).Object, obj.Object)
		})
	}
}

// manage makes a manager the owner of all fields of an object.
func manage(t *testing.T, obj *unstructured.Unstructured, manager string) {
	t.Helper()
	var fields func(value any) map[string]any
	fields = func(value any) map[string]any {
		owned := map[string]any{}
		content, _ := value.(map[string]any)
		for key, below := range content {
			owned["f:"+key] = fields(below)
		}
		return owned
	}
	raw, err := json.Marshal(fields(obj.Object))
	require.NoError(t, err)
	obj.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: manager, FieldsV1: metav1.NewFieldsV1(string(raw))}})
}

func TestTheirs(t *testing.T) {
	t.Run("explore 15: what somebody else has changed may stay when the operator no longer wants it", func(t *testing.T) {
		r := driven(merging).explore(t, true, Replay("Shop.explore.operkit.dev tea with spec.title left out | alter@2.1"))
		assert.Empty(t, r.findings, stories(r))
	})
}
