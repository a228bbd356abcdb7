package deploy_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apijson "k8s.io/apimachinery/pkg/util/json"
)

// managedBy is metadata of an object of whose fields a manager owns the given ones.
func managedBy(fields string) string {
	return `metadata: {name: web, managedFields: [{manager: x, operation: Apply, fieldsV1: ` + fields + `}]}` + "\n"
}

const containersByName = `{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{}}},"k:{\"name\":\"side\"}":{}}}}`

func TestChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, after string
		want          []string
	}{
		"equal":                      {"spec: {a: 1, b: [x]}", "spec: {a: 1, b: [x]}", nil},
		"a value":                    {"spec: {a: 1}", "spec: {a: 2}", []string{".spec.a: 1 -> 2"}},
		"a field added and one gone": {"spec: {a: 1}", "spec: {b: x}", []string{".spec.a: 1 -> none", `.spec.b: none -> "x"`}},
		"a map that is on one side only is one change": {"{}", "spec: {b: {c: x}}", []string{`.spec: none -> {"b":{"c":"x"}}`}},
		"an empty map isn't the same as none":          {"{}", "spec: {}", []string{".spec: none -> {}"}},
		"null is none":                                 {"spec: {a: null}", "spec: {}", nil},
		"another type":                                 {"spec: {a: '1'}", "spec: {a: [1]}", []string{`.spec.a: "1" -> [1]`}},
		"numbers are compared by value":                {"spec: {a: 1}", "spec: {a: 1.0}", nil},
		"deploy 9: what moves with every write is none": {
			"metadata: {name: a, uid: x, resourceVersion: '1', generation: 1, creationTimestamp: a, managedFields: []}",
			"metadata: {name: a, uid: y, resourceVersion: '2', generation: 2}", nil,
		},
		"elsewhere the same names count":    {"spec: {uid: x}", "spec: {uid: z}", []string{`.spec.uid: "x" -> "z"`}},
		"a list that nobody owns: by index": {"spec: {containers: [{name: app}]}", "spec: {containers: [{name: side}, {name: app}]}", []string{`.spec.containers[0].name: "app" -> "side"`, `.spec.containers[1]: none -> {"name":"app"}`}},
		"a shorter list":                    {"spec: {a: [1, 2, 3]}", "spec: {a: [1]}", []string{".spec.a[1]: 2 -> none", ".spec.a[2]: 3 -> none"}},
		"keys: of what the entry before says": {
			managedBy(containersByName) + "spec: {containers: [{name: app, image: 'a:1'}]}",
			"metadata: {name: web}\nspec: {containers: [{name: side}, {name: app, image: 'a:2'}]}",
			[]string{`.spec.containers[name="app"].image: "a:1" -> "a:2"`, `.spec.containers[name="side"]: none -> {"name":"side"}`},
		},
		"keys: of what the entry after says": {
			"spec: {containers: [{name: app, image: 'a:1'}, {name: old}]}",
			managedBy(containersByName) + "spec: {containers: [{name: app, image: 'a:2'}]}",
			[]string{`.metadata.name: none -> "web"`, `.spec.containers[name="app"].image: "a:1" -> "a:2"`, `.spec.containers[name="old"]: {"name":"old"} -> none`},
		},
		"keys of several fields, in a list below one": {
			managedBy(containersByName) + "spec: {containers: [{name: app, ports: [{containerPort: 80, protocol: TCP, name: a}]}]}",
			managedBy(containersByName) + "spec: {containers: [{name: app, ports: [{containerPort: 80, protocol: TCP, name: b}]}]}",
			[]string{`.spec.containers[name="app"].ports[containerPort=80,protocol="TCP"].name: "a" -> "b"`},
		},
		"elements without the key field: by index": {
			managedBy(containersByName) + "spec: {containers: [{name: app, image: a}]}",
			managedBy(containersByName) + "spec: {containers: [{image: b}]}",
			[]string{`.spec.containers[0].image: "a" -> "b"`, `.spec.containers[0].name: "app" -> none`},
		},
		"elements of one key twice: by index": {
			managedBy(containersByName) + "spec: {containers: [{name: app, image: a}, {name: app, image: b}]}",
			managedBy(containersByName) + "spec: {containers: [{name: app, image: a}, {name: app, image: c}]}",
			[]string{`.spec.containers[1].image: "b" -> "c"`},
		},
		"elements that changed places": {
			managedBy(containersByName) + "spec: {containers: [{name: app}, {name: side}]}",
			managedBy(containersByName) + "spec: {containers: [{name: side}, {name: app}]}",
			[]string{`.spec.containers: [{"name":"app"},{"name":"side"}] -> [{"name":"side"},{"name":"app"}]`},
		},
		"a set": {
			managedBy(`{"f:spec":{"f:set":{"v:\"a\"":{}}}}`) + "spec: {set: [a, b]}",
			managedBy(`{"f:spec":{"f:set":{"v:\"a\"":{}}}}`) + "spec: {set: [c, a]}",
			[]string{`.spec.set[="b"]: "b" -> none`, `.spec.set[="c"]: none -> "c"`},
		},
		"an annotation": {
			"metadata: {annotations: {example.com/a: x}}", "metadata: {annotations: {example.com/a: z}}",
			[]string{`.metadata.annotations.example.com/a: "x" -> "z"`},
		},
		"metadata that is none": {"metadata: 1", "metadata: 2", []string{".metadata: 1 -> 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := object(t, test.before), object(t, test.after)
			keptBefore, keptAfter := before.DeepCopy(), after.DeepCopy()
			assert.Equal(t, test.want, lines(deploy.Changes(before.Object, after.Object)))
			assert.Equal(t, keptBefore, before, "inputs aren't changed")
			assert.Equal(t, keptAfter, after, "inputs aren't changed")
		})
	}
	t.Run("large integers differ by one", func(t *testing.T) {
		t.Parallel()
		assert.Len(t, deploy.Changes(map[string]any{"a": int64(1<<53 + 1)}, map[string]any{"a": int64(1 << 53)}), 1)
		assert.Empty(t, deploy.Changes(map[string]any{"a": 1}, map[string]any{"a": int64(1)}))
	})
	t.Run("nothing at all", func(t *testing.T) {
		t.Parallel()
		assert.Empty(t, deploy.Changes(nil, nil))
	})
}

func lines(changes []deploy.Change) []string {
	var out []string
	for _, change := range changes {
		out = append(out, change.String())
	}
	return out
}

// FuzzChanges: there is a change exactly if there is a difference, each says what is on which
// side, and the way back changes the same places.
func FuzzChanges(f *testing.F) {
	f.Add(`{"a":{"b":1,"c":[1,2]}}`, `{"a":{"b":2,"c":[2,1]}}`, `{"f:a":{"f:c":{"v:1":{},"v:2":{}}}}`)
	f.Add(`{"l":[{"n":"x","v":1},{"n":"y"}]}`, `{"l":[{"n":"y"},{"n":"x","v":2}]}`, `{"f:l":{"k:{\"n\":\"x\"}":{"f:v":{}}}}`)
	f.Add(`{"l":[{"n":"x"},{"n":"y"}]}`, `{"l":[{"n":"y"},{"n":"x"}]}`, `{"f:l":{"k:{\"n\":\"x\"}":{}}}`)
	f.Add(`{"l":[{"n":"x"},null]}`, `{"l":[{"n":"x"},{"n":null}]}`, `{"f:l":{"k:{\"n\":null}":{},"k:{}":{},"v:null":{}}}`)
	f.Add(`{"a":null,"b":{}}`, `{"a":{},"b":[]}`, `{}`)
	f.Fuzz(func(t *testing.T, first, second, fields string) {
		var a, b, owned map[string]any
		if apijson.Unmarshal([]byte(first), &a) != nil || apijson.Unmarshal([]byte(second), &b) != nil || json.Unmarshal([]byte(fields), &owned) != nil || a == nil || b == nil {
			return
		}
		before := map[string]any{"spec": a, "metadata": map[string]any{"managedFields": []any{map[string]any{"fieldsV1": owned}}}}
		after := map[string]any{"spec": b, "metadata": map[string]any{}}
		changes, back := deploy.Changes(before, after), deploy.Changes(after, before)
		switch {
		case !reflect.DeepEqual(withoutNulls(floats(t, a)), withoutNulls(floats(t, b))):
			require.NotEmpty(t, changes)
		case jsonOf(t, a) == jsonOf(t, b):
			require.Empty(t, changes)
		}
		var there []string
		for _, change := range changes {
			there = append(there, deploy.Change{Path: change.Path, Before: change.After, After: change.Before}.String())
		}
		require.ElementsMatch(t, there, lines(back))
	})
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(withoutNulls(value))
	require.NoError(t, err)
	return string(text)
}
