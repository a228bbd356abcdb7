package main

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// shrink takes away from documents what isn't needed for them to be found wanting, so that a finding can be read.
func shrink(documents []map[string]any, wanting func(documents []map[string]any) bool) []map[string]any {
	for again := true; again; {
		again = false
		for i, whole := range documents {
			for _, smaller := range reductions(whole) {
				documents[i] = smaller
				if again = wanting(documents); again {
					break
				}
				documents[i] = whole
			}
			if again {
				break
			}
		}
	}
	return documents
}

// reductions are all values that lack one part of an object, large parts first.
func reductions(object map[string]any) []map[string]any {
	var all []map[string]any
	for _, smaller := range smallerValues(object) {
		all = append(all, smaller.(map[string]any))
	}
	return all
}

func smallerValues(value any) (all []any) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range sortedKeys(value) {
			smaller := runtime.DeepCopyJSON(value)
			delete(smaller, name)
			all = append(all, smaller)
		}
		for _, name := range sortedKeys(value) {
			for _, below := range smallerValues(value[name]) {
				smaller := runtime.DeepCopyJSON(value)
				smaller[name] = below
				all = append(all, smaller)
			}
		}
	case []any:
		for i := range value {
			all = append(all, slices.Delete(runtime.DeepCopyJSONValue(value).([]any), i, i+1))
		}
		for i, element := range value {
			for _, below := range smallerValues(element) {
				smaller := runtime.DeepCopyJSONValue(value).([]any)
				smaller[i] = below
				all = append(all, smaller)
			}
		}
	}
	return all
}
