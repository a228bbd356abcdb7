package main

import (
	"maps"
	"reflect"
	"slices"
)

// changedFields returns the paths that differ, except for the status and fields that the API server maintains. A list
// is one field.
func changedFields(before, after map[string]any) []string {
	var paths []string
	keys := maps.Clone(before)
	maps.Copy(keys, after)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if key != "metadata" && key != "status" {
			paths = append(paths, difference(key, before[key], after[key])...)
		}
	}
	return paths
}

func difference(path string, before, after any) []string {
	if reflect.DeepEqual(before, after) {
		return nil
	}
	was, wasMap := before.(map[string]any)
	is, isMap := after.(map[string]any)
	if !wasMap || !isMap {
		return []string{path}
	}
	var paths []string
	keys := maps.Clone(was)
	maps.Copy(keys, is)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		paths = append(paths, difference(path+"."+key, was[key], is[key])...)
	}
	return paths
}
