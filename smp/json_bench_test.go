package smp

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// manyOperations are a document with lists of containers and variables, and 50 operations on it.
func manyOperations() (doc map[string]any, ops []any) {
	containers := make([]any, 4)
	for c := range containers {
		env := make([]any, 80)
		for i := range env {
			env[i] = map[string]any{"name": fmt.Sprintf("SETTING_%d_%d", c, i), "value": fmt.Sprintf("value of setting %d", i)}
		}
		containers[c] = map[string]any{"name": fmt.Sprintf("container-%d", c), "image": "registry.example.com/app:1", "env": env}
	}
	for i := range 10 {
		at := fmt.Sprintf("/spec/template/spec/containers/%d", i%4)
		ops = append(ops,
			map[string]any{"op": "test", "path": fmt.Sprintf("%s/env/%d/name", at, i+4), "value": fmt.Sprintf("SETTING_%d_%d", i%4, i+4)},
			map[string]any{"op": "replace", "path": fmt.Sprintf("%s/env/%d/value", at, i), "value": "new"},
			map[string]any{"op": "add", "path": at + "/env/-", "value": map[string]any{"name": fmt.Sprintf("NEW_%d", i), "value": "x"}},
			map[string]any{"op": "copy", "from": at + "/image", "path": fmt.Sprintf("%s/image%d", at, i)},
			map[string]any{"op": "remove", "path": at + "/env/79"},
		)
	}
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": containers}}},
	}, ops
}

func BenchmarkJSON(b *testing.B) {
	doc, ops := manyOperations()
	for name, options := range map[string][]Option{"detached": nil, "shared": {Shared()}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := JSON(doc, ops, options...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// benchmarkTexts runs a function of texts on texts as long as a large Deployment's.
func benchmarkTexts(b *testing.B, first, second any, call func(first, second []byte, opts ...Option) ([]byte, error)) {
	b.Helper()
	firstText, err := JSONText.encode(nil, first)
	require.NoError(b, err)
	secondText, err := JSONText.encode(nil, second)
	require.NoError(b, err)
	b.ReportAllocs()
	b.SetBytes(int64(len(firstText)))
	for b.Loop() {
		if _, err := call(firstText, secondText); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJSONText(b *testing.B) {
	doc, ops := manyOperations()
	benchmarkTexts(b, doc, ops, JSONText.JSON)
}

func BenchmarkMergeBytes(b *testing.B) {
	doc, _ := manyOperations()
	benchmarkTexts(b, doc, map[string]any{"spec": map[string]any{"replicas": 3}}, JSONText.Merge)
}

func BenchmarkMergeYAML(b *testing.B) {
	doc, _ := manyOperations()
	benchmarkTexts(b, doc, map[string]any{"spec": map[string]any{"replicas": 3}}, YAMLText.Merge)
}

func BenchmarkMerge(b *testing.B) {
	doc, _ := manyOperations()
	patch := map[string]any{"spec": map[string]any{"replicas": int64(3)}}
	for name, options := range map[string][]Option{"detached": nil, "shared": {Shared()}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Merge(doc, patch, options...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDiffJSON(b *testing.B) {
	before, ops := manyOperations()
	after, err := JSON(before, ops)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DiffJSON(before, after); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDiffMerge(b *testing.B) {
	before, ops := manyOperations()
	after, err := JSON(before, ops)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DiffMerge(before, after); err != nil {
			b.Fatal(err)
		}
	}
}
