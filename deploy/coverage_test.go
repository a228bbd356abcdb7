package deploy

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func decoded(t testing.TB, text string) map[string]any {
	t.Helper()
	var content map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text), &content))
	return content
}

// liveWith is an object of managers that live is merged into.
func liveWith(t testing.TB, live string, managers ...string) *unstructured.Unstructured {
	t.Helper()
	obj := decoded(t, "{apiVersion: v1, kind: K, metadata: {name: a}}")
	for key, value := range decoded(t, live) {
		obj[key] = value
	}
	var entries []any
	for _, manager := range managers {
		entries = append(entries, decoded(t, manager))
	}
	obj["metadata"].(map[string]any)["managedFields"] = entries
	return &unstructured.Unstructured{Object: obj}
}

func ours(fields string) string {
	return `{manager: operkit, operation: Apply, apiVersion: v1, fieldsV1: ` + fields + `}`
}

func theirs(fields string) string {
	return `{manager: kubectl, operation: Update, apiVersion: v1, fieldsV1: ` + fields + `}`
}

func TestCovered(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// fields is our entry, rival another's, live the content where it matters.
		fields, rival, live string
		intent              string
		want                bool
	}{
		"all fields":              {fields: `{f:data: {f:a: {}, f:b: {}}}`, intent: `{data: {a: x, b: y}}`, want: true},
		"more than all":           {fields: `{f:data: {f:a: {}, f:b: {}}}`, intent: `{data: {a: x}}`, want: true},
		"a field missing":         {fields: `{f:data: {f:a: {}}}`, intent: `{data: {a: x, b: y}}`, want: false},
		"a map missing":           {fields: `{f:data: {f:a: {}}}`, intent: `{data: {a: x}, spec: {a: x}}`, want: false},
		"identity is never owned": {fields: `{f:data: {f:a: {}}}`, intent: `{apiVersion: v1, kind: K, metadata: {name: a, namespace: b}, data: {a: x}}`, want: true},
		"labels are":              {fields: `{f:metadata: {f:labels: {f:a: {}}}}`, intent: `{metadata: {name: a, labels: {a: x}}}`, want: true},
		"a label missing":         {fields: `{f:metadata: {f:labels: {f:b: {}}}}`, intent: `{metadata: {name: a, labels: {a: x}}}`, want: false},
		"no metadata at all":      {fields: `{f:data: {}}`, intent: `{metadata: {labels: {a: x}}}`, want: false},
		"a name within names":     {fields: `{f:spec: {f:name: {}}}`, intent: `{spec: {name: x, namespace: y}}`, want: false},

		"a scalar":                                {fields: `{f:spec: {f:replicas: {}}}`, intent: `{spec: {replicas: 1}}`, want: true},
		"a leaf covers an atomic list":            {fields: `{f:args: {}}`, live: `{args: [a, b]}`, intent: `{args: [a, b, {c: d}]}`, want: true},
		"a leaf covers an atomic map":             {fields: `{f:selector: {}}`, live: `{selector: {a: {b: x}}}`, intent: `{selector: {a: {b: x}}}`, want: true},
		"an atomic map that admission rewrote":    {fields: `{f:selector: {}}`, live: `{selector: {a: other, c: d}}`, intent: `{selector: {a: x}}`, want: true},
		"a zero value that the server leaves out": {fields: `{f:ref: {}}`, live: `{ref: {name: x}}`, intent: `{ref: {name: x, key: "", optional: false, weight: 0, more: {}, list: []}}`, want: true},
		"a free map that lost its entry":          {fields: `{f:rules: {f:one: {}}}`, live: `{rules: {one: {}}}`, intent: `{rules: {one: {to: x}}}`, want: false},
		"a free map whose entry another took": {
			fields: `{f:rules: {f:one: {}}}`, rival: `{f:rules: {f:one: {f:to: {}}}}`, live: `{rules: {one: {to: y}}}`,
			intent: `{rules: {one: {to: x}}}`, want: false,
		},
		"a free map to which another added": {
			fields: `{f:rules: {f:one: {}}}`, rival: `{f:rules: {f:one: {f:from: {}}}}`, live: `{rules: {one: {from: y}}}`,
			intent: `{rules: {one: {}}}`, want: true,
		},
		"a value in the place of a free map":     {fields: `{f:rules: {f:one: {}}}`, live: `{rules: {one: y}}`, intent: `{rules: {one: {to: x}}}`, want: false},
		"a shared atomic map":                    {fields: `{f:selector: {}}`, rival: `{f:selector: {}}`, live: `{selector: {a: x}}`, intent: `{selector: {a: x}}`, want: true},
		"an empty map":                           {fields: `{f:spec: {f:emptyDir: {}}}`, intent: `{spec: {emptyDir: {}}}`, want: true},
		"an empty map that isn't owned":          {fields: `{f:spec: {f:a: {}}}`, intent: `{spec: {emptyDir: {}}}`, want: false},
		"an empty map of which fields are owned": {fields: `{f:data: {".": {}, f:a: {}}}`, intent: `{data: {}}`, want: true},
		"an empty list":                          {fields: `{f:args: {}}`, intent: `{args: []}`, want: true},
		"a list that was emptied":                {fields: `{f:args: {}}`, live: `{args: []}`, intent: `{args: [a]}`, want: false},
		"a null":                                 {fields: `{f:args: {}}`, intent: `{args: null}`, want: true},

		"an empty list with keys, of which nothing can be owned": {fields: `{f:spec: {f:a: {}}}`, intent: `{spec: {a: 1, ports: []}}`, want: true},
		"an empty list that the server leaves out":               {fields: `{f:spec: {f:a: {}}}`, live: `{spec: {a: 1}}`, intent: `{spec: {a: 1, ports: []}}`, want: true},
		"an empty list that somebody filled": {fields: `{f:spec: {f:a: {}}}`, rival: `{f:spec: {f:ports: {}}}`, live: `{spec: {a: 1, ports: [{port: 80}]}}`,
			intent: `{spec: {a: 1, ports: []}}`, want: false},
		"an empty list that isn't empty any more": {fields: `{f:spec: {f:a: {}}}`, live: `{spec: {a: 1, ports: [{port: 80}]}}`, intent: `{spec: {a: 1, ports: []}}`, want: false},

		"a list item by its key":         {fields: `{f:env: {'k:{"name":"A"}': {".": {}, f:name: {}, f:value: {}}}}`, intent: `{env: [{name: A, value: x}]}`, want: true},
		"a field of a list item missing": {fields: `{f:env: {'k:{"name":"A"}': {".": {}, f:name: {}}}}`, intent: `{env: [{name: A, value: x}]}`, want: false},
		"a list item missing":            {fields: `{f:env: {'k:{"name":"A"}': {".": {}, f:name: {}}}}`, intent: `{env: [{name: A}, {name: B}]}`, want: false},
		"list items in any order":        {fields: `{f:env: {'k:{"name":"A"}': {}, 'k:{"name":"B"}': {}}}`, live: `{env: [{name: A}, {name: B}]}`, intent: `{env: [{name: B}, {name: A}]}`, want: true},
		"keys that are numbers":          {fields: `{f:ports: {'k:{"port":80}': {".": {}, f:port: {}}}}`, intent: `{ports: [{port: 80}]}`, want: true},
		"another number":                 {fields: `{f:ports: {'k:{"port":80}': {".": {}, f:port: {}}}}`, intent: `{ports: [{port: 81}]}`, want: false},
		"a key field that the server filled": {
			fields: `{f:ports: {'k:{"port":80,"protocol":"TCP"}': {".": {}, f:port: {}}}}`,
			intent: `{ports: [{port: 80}]}`, want: true,
		},
		"a key field that the server filled, twice possible": {
			fields: `{f:ports: {'k:{"port":53,"protocol":"TCP"}': {".": {}, f:port: {}}, 'k:{"port":53,"protocol":"UDP"}': {".": {}, f:port: {}}}}`,
			intent: `{ports: [{port: 53}]}`, want: false,
		},
		"a key field that the server filled beside one that is given": {
			fields: `{f:ports: {'k:{"port":53,"protocol":"TCP"}': {".": {}, f:port: {}}, 'k:{"port":53,"protocol":"UDP"}': {".": {}, f:port: {}, f:protocol: {}}}}`,
			intent: `{ports: [{port: 53}, {port: 53, protocol: UDP}]}`, want: true,
		},
		"a filled key field and a field missing": {
			fields: `{f:ports: {'k:{"port":80,"protocol":"TCP"}': {".": {}, f:port: {}}}}`,
			intent: `{ports: [{port: 80, name: x}]}`, want: false,
		},
		"an atomic list item":   {fields: `{f:owners: {'k:{"uid":"u"}': {}}}`, live: `{owners: [{uid: x}, {uid: u, name: a}]}`, intent: `{owners: [{uid: u, name: a}]}`, want: true},
		"a key that is no JSON": {fields: `{f:env: {'k:{': {}}}`, intent: `{env: [{name: A}]}`, want: false},

		"a set":                    {fields: `{f:finalizers: {'v:"a"': {}, 'v:"b"': {}}}`, intent: `{finalizers: [b, a]}`, want: true},
		"a value of a set missing": {fields: `{f:finalizers: {'v:"a"': {}}}`, intent: `{finalizers: [a, b]}`, want: false},
		"a set of numbers":         {fields: `{f:ids: {'v:1': {}, 'v:2.5': {}}}`, intent: `{ids: [1, 2.5]}`, want: true},
		"a number isn't its text":  {fields: `{f:ids: {'v:"1"': {}}}`, intent: `{ids: [1]}`, want: false},
		"a value that is no JSON":  {fields: `{f:ids: {'v:x': {}}}`, intent: `{ids: [x]}`, want: false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live := test.live
			if live == "" {
				live = test.intent
			}
			managers := []string{ours(test.fields)}
			if test.rival != "" {
				managers = append(managers, theirs(test.rival))
			}
			assert.Equal(t, test.want, coversAll(liveWith(t, live, managers...), "operkit", decoded(t, test.intent)))
		})
	}
}

func TestCoveredByWhom(t *testing.T) {
	t.Parallel()
	const fields = `{f:data: {f:a: {}}}`
	for name, test := range map[string]struct {
		managers []string
		want     bool
	}{
		"our applies":                    {[]string{ours(fields)}, true},
		"nobody":                         {nil, false},
		"emptied managedFields":          {[]string{`{}`}, false},
		"another manager's":              {[]string{theirs(fields)}, false},
		"our updates":                    {[]string{`{manager: operkit, operation: Update, apiVersion: v1, fieldsV1: ` + fields + `}`}, false},
		"our applies of a subresource":   {[]string{`{manager: operkit, operation: Apply, apiVersion: v1, subresource: status, fieldsV1: ` + fields + `}`}, false},
		"our applies of another version": {[]string{`{manager: operkit, operation: Apply, apiVersion: v1beta1, fieldsV1: ` + fields + `}`}, false},
		"an entry without fields":        {[]string{`{manager: operkit, operation: Apply, apiVersion: v1}`}, false},
		"ours among others":              {[]string{theirs(`{f:data: {f:b: {}}}`), ours(fields)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, coversAll(liveWith(t, `{data: {a: x}}`, test.managers...), "operkit", decoded(t, `{data: {a: x}}`)))
		})
	}
	assert.False(t, coversAll(&unstructured.Unstructured{Object: map[string]any{"metadata": "x"}}, "operkit", map[string]any{}))
	assert.False(t, coversAll(&unstructured.Unstructured{Object: decoded(t, "{metadata: {managedFields: [x]}}")}, "operkit", map[string]any{}))
}

// FuzzCovered looks for field sets and intents that upset the walk, and for a field that is
// covered though nobody owns it.
func FuzzCovered(f *testing.F) {
	f.Add(`{"f:data":{"f:a":{}}}`, `{}`, `{"data":{"a":"x"}}`, `{"data":{"a":"x"}}`)
	f.Add(`{"f:p":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}}`, `{"f:p":{}}`, `{"p":[{"port":80}]}`, `{"p":[{"port":80},{}]}`)
	f.Add(`{"f:s":{"v:1":{},"v:\"a\"":{}}}`, `{"f:s":null}`, `{"s":[1,"a",null]}`, `{"s":[1,"a",null]}`)
	f.Add(`{"f:m":{"f:x":{}}}`, `{"f:m":{"f:x":{"f:y":{}}}}`, `{"m":{"x":{"y":1}}}`, `{"m":{"x":1}}`)
	f.Fuzz(func(t *testing.T, fields, rival, intent, content string) {
		var own, other, want, live map[string]any
		for text, target := range map[string]*map[string]any{fields: &own, rival: &other, intent: &want, content: &live} {
			if json.Unmarshal([]byte(text), target) != nil {
				return
			}
		}
		if live == nil {
			live = map[string]any{}
		}
		live["apiVersion"] = "v1"
		live["metadata"] = map[string]any{"managedFields": []any{
			map[string]any{"manager": "operkit", "operation": "Apply", "apiVersion": "v1", "fieldsV1": own},
			map[string]any{"manager": "kubectl", "operation": "Update", "apiVersion": "v1", "fieldsV1": other},
		}}
		obj := &unstructured.Unstructured{Object: live}
		if !coversAll(obj, "operkit", want) {
			return
		}
		unowned := map[string]any{"nobody owns this": map[string]any{}}
		for key, value := range want {
			unowned[key] = value
		}
		if _, owned := own["f:nobody owns this"]; !owned && coversAll(obj, "operkit", unowned) {
			t.Fatalf("%s covers a field that isn't in it", fields)
		}
	})
}

// coversAll is coverage of an object that is known as a whole.
func coversAll(live *unstructured.Unstructured, manager string, intent map[string]any) bool {
	return coverage(live, manager, intent, &knownContent{})
}
