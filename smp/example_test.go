package smp_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/smp"
)

var podKind = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}

// print writes a value as JSON.
func print(value any) {
	text, err := json.Marshal(value)
	fmt.Println(string(text), err)
}

func pod(spec map[string]any) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "web"}, "spec": spec}
}

func named(name string, fields ...any) map[string]any {
	out := map[string]any{"name": name}
	for i := 0; i < len(fields); i += 2 {
		out[fields[i].(string)] = fields[i+1]
	}
	return out
}

func ExampleStrategic() {
	doc := pod(map[string]any{"containers": []any{named("web", "image", "web:1"), named("log", "image", "log:1")}})
	patch := map[string]any{"spec": map[string]any{"containers": []any{named("web", "image", "web:2")}}}

	out, err := smp.Strategic(doc, patch, smp.SchemaFor(podKind))
	if err != nil {
		fmt.Println(err)
	}
	print(out["spec"])
	// Output:
	// {"containers":[{"image":"web:2","name":"web"},{"image":"log:1","name":"log"}]} <nil>
}

func ExampleStrategic_errors() {
	doc := pod(map[string]any{"containers": []any{named("web")}})
	patch := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"image": "web:2"}}}}

	_, err := smp.Strategic(doc, patch, smp.SchemaFor(podKind), smp.Named("new-image"))
	fmt.Println(err)
	var patchError *smp.PatchError
	fmt.Println(errors.As(err, &patchError), patchError.Path, patchError.Kind)
	// Output:
	// patch "new-image": Pod web: /spec/containers/0: the element has no scalar "name", the key of the list: set it
	// true /spec/containers/0 invalid
}

func ExampleDiff() {
	before := pod(map[string]any{"hostname": "a", "containers": []any{named("web", "image", "web:1"), named("log")}})
	after := pod(map[string]any{"containers": []any{named("web", "image", "web:2")}})

	patch, err := smp.Diff(before, after, smp.SchemaFor(podKind))
	if err != nil {
		fmt.Println(err)
	}
	print(patch)
	// Output:
	// {"spec":{"containers":[{"image":"web:2","name":"web"},{"$patch":"delete","name":"log"}],"hostname":null}} <nil>
}

func ExampleDiff3() {
	original := pod(map[string]any{"hostname": "a", "subdomain": "s"})
	modified := pod(map[string]any{"hostname": "b"})
	current := pod(map[string]any{"hostname": "a", "subdomain": "s", "nodeName": "set-by-the-scheduler"})

	patch, err := smp.Diff3(original, modified, current, smp.SchemaFor(podKind))
	if err != nil {
		fmt.Println(err)
	}
	print(patch)
	// Output:
	// {"spec":{"hostname":"b","subdomain":null}} <nil>
}

func ExamplePatch_Apply() {
	doc := pod(map[string]any{"hostname": "a"})
	patch := smp.Patch{Name: "other-host", Type: smp.JSON6902, Body: []any{
		map[string]any{"op": "replace", "path": "/spec/hostname", "value": "b"},
	}}
	out, err := patch.Apply(doc, smp.SchemaFor(podKind))
	if err != nil {
		fmt.Println(err)
	}
	print(out["spec"])
	// Output:
	// {"hostname":"b"} <nil>
}

func ExampleShared() {
	doc := pod(map[string]any{"hostname": "a"})
	patch := map[string]any{"spec": map[string]any{"hostname": "b"}}

	out, err := smp.Strategic(doc, patch, smp.SchemaFor(podKind), smp.Shared())
	if err != nil {
		fmt.Println(err)
	}
	// Nothing of the metadata was copied: writing to it here would change the document.
	print(out)
	// Output:
	// {"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"hostname":"b"}} <nil>
}

func ExampleInMode() {
	doc := pod(map[string]any{"containers": []any{named("web")}})
	patch := map[string]any{"spec": map[string]any{"containers": []any{named("wbe", "$patch", "delete")}}}

	_, err := smp.Strategic(doc, patch, smp.SchemaFor(podKind))
	fmt.Println(err)
	_, err = smp.Strategic(doc, patch, smp.SchemaFor(podKind), smp.InMode(smp.Strict))
	fmt.Println(err)
	// Output:
	// <nil>
	// Pod web: /spec/containers/0: there is no element "wbe" to delete
}

func ExampleMergeKeys() {
	doc := map[string]any{"kind": "Gate", "spec": map[string]any{"doors": []any{named("a", "open", true), named("b")}}}
	patch := map[string]any{"spec": map[string]any{"doors": []any{named("b", "open", true)}}}

	out, err := smp.Strategic(doc, patch, smp.Schema{}, smp.InMode(smp.Oper8), smp.MergeKeys(map[string]string{"Gate.spec.doors": "name"}))
	if err != nil {
		fmt.Println(err)
	}
	print(out["spec"])
	// Output:
	// {"doors":[{"name":"a","open":true},{"name":"b","open":true}]} <nil>
}

func ExampleAllowIdentityChange() {
	doc := pod(map[string]any{})
	patch := map[string]any{"metadata": map[string]any{"name": "shop"}}

	_, err := smp.Strategic(doc, patch, smp.SchemaFor(podKind))
	fmt.Println(err)
	out, err := smp.Strategic(doc, patch, smp.SchemaFor(podKind), smp.AllowIdentityChange())
	if err != nil {
		fmt.Println(err)
	}
	print(out["metadata"])
	// Output:
	// Pod web: /metadata/name: the patch changes it from "web" to "shop", which makes another object: give AllowIdentityChange if that is intended
	// {"name":"shop"} <nil>
}

func ExampleNamed() {
	_, err := smp.Strategic(pod(nil), map[string]any{"kind": "Job"}, smp.SchemaFor(podKind), smp.Named("more-memory"))
	fmt.Println(err)
	// Output:
	// patch "more-memory": Pod web: /kind: the patch changes it from "Pod" to "Job", which makes another object: give AllowIdentityChange if that is intended
}

func ExampleWithin() {
	patch := map[string]any{"spec": map[string]any{"affinity": map[string]any{"nodeAffinity": map[string]any{}}}}
	_, err := smp.Strategic(pod(map[string]any{}), patch, smp.SchemaFor(podKind), smp.Within(2, 0))
	fmt.Println(smp.KindOf(err))

	_, err = smp.JSONText.Merge([]byte(`{"a":1}`), []byte(`{"a":"a long text"}`), smp.Within(0, 10))
	fmt.Println(err)
	// Output:
	// limit
	// the patch is larger than 10 bytes
}

func ExampleSchema_String() {
	fmt.Println(smp.SchemaFor(podKind))
	fmt.Println(smp.SchemaFor(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}))
	// Output:
	// v1 Pod
	// example.com/v1 Thing (unknown)
}

func ExampleField_String() {
	field, found := smp.SchemaFor(podKind).Lookup("spec", "containers")
	fmt.Println(field, found)
	// Output:
	// []io.k8s.api.core.v1.Container merge name true
}

func ExampleKindOf() {
	_, err := smp.Strategic(pod(nil), map[string]any{"$patch": "merge"}, smp.SchemaFor(podKind))
	fmt.Println(smp.KindOf(err))
	fmt.Printf("%q\n", smp.KindOf(errors.New("another error")))
	// Output:
	// invalid
	// ""
}
