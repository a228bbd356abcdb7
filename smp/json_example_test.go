package smp_test

import (
	"errors"
	"fmt"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/smp"
)

func ExampleJSON() {
	doc := map[string]any{"image": "web:1", "args": []any{"--verbose"}}
	out, err := smp.JSON(doc, []any{
		map[string]any{"op": "test", "path": "/image", "value": "web:1"},
		map[string]any{"op": "replace", "path": "/image", "value": "web:2"},
		map[string]any{"op": "add", "path": "/args/-", "value": "--trace"},
	})
	fmt.Println(out, err)

	_, err = smp.JSON(doc, []any{map[string]any{"op": "remove", "path": "/args/7"}}, smp.Named("trim"))
	var patchError *smp.PatchError
	fmt.Println(err)
	fmt.Println(errors.As(err, &patchError), patchError.Kind, patchError.Path)
	// Output:
	// map[args:[--verbose --trace] image:web:2] <nil>
	// patch "trim": /args/7: operation 0 (remove): the index 7 is out of range
	// true conflict /args/7
}

func ExampleMerge() {
	doc := map[string]any{"labels": map[string]any{"app": "web", "tier": "old"}, "ports": []any{80}}
	patch := map[string]any{"labels": map[string]any{"tier": nil, "team": "shop"}, "ports": []any{8080}}
	fmt.Println(smp.Merge(doc, patch))
	// Output: map[labels:map[app:web team:shop] ports:[8080]] <nil>
}

func ExampleDiffJSON() {
	before := map[string]any{"image": "web:1", "ports": []any{80, 443}, "debug": true}
	after := map[string]any{"image": "web:2", "ports": []any{443}}
	ops, err := smp.DiffJSON(before, after)
	for _, op := range ops {
		fmt.Println(op)
	}
	fmt.Println(err)
	// Output:
	// map[op:remove path:/debug]
	// map[op:replace path:/image value:web:2]
	// map[op:remove path:/ports/0]
	// <nil>
}

func ExampleDiffMerge() {
	before := map[string]any{"image": "web:1", "debug": true}
	fmt.Println(smp.DiffMerge(before, map[string]any{"image": "web:2"}))
	_, err := smp.DiffMerge(before, map[string]any{"image": nil})
	fmt.Println(err)
	// Output:
	// map[debug:<nil> image:web:2] <nil>
	// /image: a merge patch can't set a field to null, because null deletes the field: use a JSON patch
}

// show prints a text, or why there is none.
func show(text []byte, err error) {
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(text), "\n")
}

func pods() smp.Schema {
	return smp.SchemaFor(kschema.GroupVersionKind{Version: "v1", Kind: "Pod"})
}

const podText = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"web","image":"web:1"}]}}`

const podYAML = `
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  containers:
  - name: web
    image: web:1
`

func ExampleText_Strategic() {
	show(smp.JSONText.Strategic([]byte(podText), []byte(`{"spec":{"containers":[{"name":"web","image":"web:2"}]}}`), pods()))
	show(smp.JSONText.Strategic([]byte(podText), []byte(`{"spec":`), pods(), smp.Named("image")))
	// Output:
	// {"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"image":"web:2","name":"web"}]}}
	// patch "image": patch: line 1, offset 8: the text ends where a value is expected
}

func ExampleText_Strategic_yaml() {
	show(smp.YAMLText.Strategic([]byte(podYAML), []byte("spec:\n  containers:\n  - name: web\n    image: web:2\n"), pods()))
	// Output:
	// apiVersion: v1
	// kind: Pod
	// metadata:
	//   name: web
	// spec:
	//   containers:
	//   - image: web:2
	//     name: web
}

func ExampleText_JSON() {
	show(smp.JSONText.JSON([]byte(`{"id":9007199254740993}`), []byte(`[{"op":"copy","from":"/id","path":"/copy"}]`)))
	// Output: {"copy":9007199254740993,"id":9007199254740993}
}

func ExampleText_JSON_yaml() {
	show(smp.YAMLText.JSON([]byte("ports: [80]\n"), []byte("- op: add\n  path: /ports/-\n  value: 443\n")))
	// Output:
	// ports:
	// - 80
	// - 443
}

func ExampleText_Merge() {
	show(smp.JSONText.Merge([]byte(`{"a":1,"b":{"c":2}}`), []byte(`{"a":null,"b":{"d":3}}`)))
	// Output: {"b":{"c":2,"d":3}}
}

func ExampleText_Merge_yaml() {
	show(smp.YAMLText.Merge([]byte("motd: hello\ndebug: on\n"), []byte("motd: |\n  hello,\n  world\n")))
	// Output:
	// debug: true
	// motd: |
	//   hello,
	//   world
}

func ExampleText_Diff() {
	after := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"web","image":"web:2"}]}}`
	show(smp.JSONText.Diff([]byte(podText), []byte(after), pods()))
	// Output: {"spec":{"containers":[{"image":"web:2","name":"web"}]}}
}

func ExampleText_Diff_yaml() {
	show(smp.YAMLText.Diff([]byte(podYAML), []byte(podYAML+"  hostname: web-1\n"), pods()))
	// Output:
	// spec:
	//   hostname: web-1
}

func ExampleText_Diff3() {
	original := `{"metadata":{"name":"web","labels":{"a":"1"}}}`
	modified := `{"metadata":{"name":"web","labels":{"b":"2"}}}`
	current := `{"metadata":{"name":"web","labels":{"a":"1","theirs":"3"}}}`
	show(smp.JSONText.Diff3([]byte(original), []byte(modified), []byte(current), pods()))
	// Output: {"metadata":{"labels":{"a":null,"b":"2"}}}
}

func ExampleText_Diff3_yaml() {
	current := podYAML + "  hostname: web-1\n  nodeName: node-7\n"
	show(smp.YAMLText.Diff3([]byte(podYAML+"  hostname: web-1\n"), []byte(podYAML), []byte(current), pods()))
	// Output:
	// spec:
	//   hostname: null
}

func ExampleText_DiffJSON() {
	show(smp.JSONText.DiffJSON([]byte(`[1,2,3]`), []byte(`[1,3,4]`)))
	// Output: [{"op":"remove","path":"/1"},{"op":"add","path":"/2","value":4}]
}

func ExampleText_DiffJSON_yaml() {
	show(smp.YAMLText.DiffJSON([]byte("a: 1\n"), []byte("a: 2\n")))
	// Output:
	// - op: replace
	//   path: /a
	//   value: 2
}

func ExampleText_DiffMerge() {
	show(smp.JSONText.DiffMerge([]byte(`{"a":1,"b":2}`), []byte(`{"b":3}`)))
	// Output: {"a":null,"b":3}
}

func ExampleText_DiffMerge_yaml() {
	show(smp.YAMLText.DiffMerge([]byte("a: 1\nb: 2\n"), []byte("b: 3\n")))
	// Output:
	// a: null
	// b: 3
}
