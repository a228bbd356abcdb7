package smp

import (
	"testing"
)

func BenchmarkSchemaFor(b *testing.B) {
	gvk := gvkOf("apps/v1 Deployment")
	SchemaFor(gvk)
	b.ReportAllocs()
	for b.Loop() {
		SchemaFor(gvk)
	}
}

func BenchmarkSchemaForUnknown(b *testing.B) {
	gvk := gvkOf("shop.example.com/v1 Route")
	b.ReportAllocs()
	for b.Loop() {
		SchemaFor(gvk)
	}
}

func BenchmarkSchemaFromOpenAPI(b *testing.B) {
	text, gvk := testdata(b, "core-v1.json"), gvkOf("v1 Pod")
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := SchemaFromOpenAPI(text, gvk); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSchemaFromCRD(b *testing.B) {
	crd := object(b, string(testdata(b, "shop-crd.json")))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := SchemaFromCRD(crd, "v1"); err != nil {
			b.Fatal(err)
		}
	}
}
