package known_test

import (
	"fmt"

	"github.com/operkit/operkit/status/readiness"
	"github.com/operkit/operkit/status/readiness/known"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func ExampleKinds() {
	certificate := map[string]any{
		"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": map[string]any{"name": "shop", "generation": int64(1)},
		"spec": map[string]any{"secretName": "shop-tls", "issuerRef": map[string]any{"name": "ca"}},
	}
	result := readiness.Checker{Registry: known.Kinds()}.Of(certificate)
	fmt.Println(result.State, result.Message)
	// Output:
	// InProgress the condition Ready isn't set yet: cert-manager hasn't handled the object: Issuer ca issues it into Secret shop-tls
}

func ExampleManaged() {
	bucket := map[string]any{
		"apiVersion": "s3.aws.upbound.io/v1beta1", "kind": "Bucket", "metadata": map[string]any{"name": "photos"},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": "Synced", "status": "False", "reason": "ReconcileError", "message": "create failed: AccessDenied",
		}}},
	}
	buckets := schema.GroupKind{Group: "s3.aws.upbound.io", Kind: "Bucket"}
	result := readiness.Checker{Registry: known.Managed(buckets)}.Of(bucket)
	fmt.Println(result.State, result.Message)
	// Output:
	// Failed create failed: AccessDenied
}

func ExampleManagedKinds() {
	bucket := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"group": "s3.aws.upbound.io", "names": map[string]any{"kind": "Bucket", "categories": []any{"crossplane", "managed", "aws"}},
	}}}
	fmt.Println(known.ManagedKinds(bucket))
	// Output:
	// [Bucket.s3.aws.upbound.io]
}

func ExampleConditions() {
	version := map[string]any{"name": "v1", "served": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{
		"properties": map[string]any{"status": map[string]any{"properties": map[string]any{"conditions": map[string]any{"type": "array"}}}},
	}}}
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"spec": map[string]any{"group": "example.com", "names": map[string]any{"kind": "Lamp"}, "versions": []any{version}},
	}}
	registry, err := known.Conditions(definition)
	if err != nil {
		fmt.Println(err)
		return
	}
	lamp := map[string]any{"apiVersion": "example.com/v1", "kind": "Lamp", "metadata": map[string]any{"name": "desk"}}
	fmt.Println(readiness.Checker{Registry: registry}.Of(lamp).Message)
	// Output:
	// the object has no conditions yet: its controller hasn't handled it
}
