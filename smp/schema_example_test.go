package smp_test

import (
	"fmt"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/smp"
)

func ExampleSchemaFor() {
	deployment := smp.SchemaFor(kschema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	fmt.Println(deployment, deployment.Known())

	custom := smp.SchemaFor(kschema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Route"})
	fmt.Println(custom.Known())
	// Output:
	// apps/v1 Deployment true
	// false
}

// Why did my patch replace the whole list of tolerations, and not that of containers?
func ExampleSchema_Lookup() {
	pod := smp.SchemaFor(kschema.GroupVersionKind{Version: "v1", Kind: "Pod"})
	for _, name := range []string{"containers", "tolerations", "volumes", "nodeSelector", "container"} {
		field, found := pod.Lookup("spec", name)
		fmt.Printf("%s: %t %s\n", name, found, field)
	}
	// Output:
	// containers: true []io.k8s.api.core.v1.Container merge name
	// tolerations: true []io.k8s.api.core.v1.Toleration
	// volumes: true []io.k8s.api.core.v1.Volume merge,retainKeys name
	// nodeSelector: true map[string]scalar
	// container: false
}

func ExampleSchema_Known() {
	fmt.Println(smp.Schema{}.Known())
	// Output: false
}

func ExampleSchema_Describe() {
	type Port struct {
		Number   int    `json:"number"`
		Protocol string `json:"protocol,omitempty"`
	}
	type Gateway struct {
		Kind  string   `json:"kind"`
		Hosts []string `json:"hosts" patchStrategy:"merge"`
		Ports []Port   `json:"ports" patchStrategy:"merge" patchMergeKey:"number"`
	}
	schema, err := smp.SchemaFromType(Gateway{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(schema.Describe())
	// Output:
	// type com.github.operkit.operkit.smp_test.Gateway
	//   hosts []scalar merge
	//   kind scalar
	//   ports []com.github.operkit.operkit.smp_test.Port merge number
	//
	// type com.github.operkit.operkit.smp_test.Port
	//   number scalar
	//   protocol scalar
}

func ExampleSchemaFromType() {
	type Port struct {
		Name   string `json:"name"`
		Number int    `json:"number"`
	}
	type Gateway struct {
		Kind  string `json:"kind"`
		Ports []Port `json:"ports" patchStrategy:"merge" patchMergeKey:"name"`
	}
	schema, err := smp.SchemaFromType(Gateway{})
	if err != nil {
		fmt.Println(err)
		return
	}
	gateway := map[string]any{"kind": "Gateway", "ports": []any{
		map[string]any{"name": "http", "number": int64(80)},
		map[string]any{"name": "https", "number": int64(443)},
	}}
	patch := map[string]any{"ports": []any{map[string]any{"name": "http", "number": int64(8080)}}}
	out, err := smp.Strategic(gateway, patch, schema)
	fmt.Println(out["ports"], err)
	// Output: [map[name:http number:8080] map[name:https number:443]] <nil>
}

func ExampleSchemaFromCRD() {
	crd := map[string]any{
		"kind":     "CustomResourceDefinition",
		"metadata": map[string]any{"name": "gateways.shop.example.com"},
		"spec": map[string]any{
			"group": "shop.example.com",
			"names": map[string]any{"kind": "Gateway"},
			"versions": []any{map[string]any{"name": "v1", "schema": map[string]any{"openAPIV3Schema": map[string]any{
				"type": "object",
				"properties": map[string]any{"ports": map[string]any{
					"type":                       "array",
					"x-kubernetes-list-type":     "map",
					"x-kubernetes-list-map-keys": []any{"number", "protocol"},
					"items": map[string]any{"type": "object", "properties": map[string]any{
						"number":   map[string]any{"type": "integer"},
						"protocol": map[string]any{"type": "string", "default": "TCP"},
					}},
				}},
			}}}},
		},
	}
	schema, err := smp.SchemaFromCRD(crd, "v1")
	field, _ := schema.Lookup("ports")
	fmt.Println(schema, field.Strategy, field.Keys, err)

	_, err = smp.SchemaFromCRD(crd, "v2")
	fmt.Println(err)
	// Output:
	// shop.example.com/v1 Gateway merge [number protocol="TCP"] <nil>
	// CustomResourceDefinition gateways.shop.example.com: /spec/versions: there is no version "v2": use one of v1
}

func ExampleSchemaFromOpenAPI() {
	document := []byte(`{"components": {"schemas": {
		"com.example.shop.v1.Gateway": {
			"type": "object",
			"properties": {
				"ports": {
					"type": "array",
					"items": {"$ref": "#/components/schemas/com.example.shop.v1.Port"},
					"x-kubernetes-patch-strategy": "merge",
					"x-kubernetes-patch-merge-key": "number"
				}
			},
			"x-kubernetes-group-version-kind": [{"group": "shop.example.com", "version": "v1", "kind": "Gateway"}]
		},
		"com.example.shop.v1.Port": {"type": "object", "properties": {"number": {"type": "integer"}}}
	}}}`)
	gvk := kschema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Gateway"}
	schema, err := smp.SchemaFromOpenAPI(document, gvk)
	field, _ := schema.Lookup("ports")
	fmt.Println(field, err)
	// Output: []com.example.shop.v1.Port merge number <nil>
}
