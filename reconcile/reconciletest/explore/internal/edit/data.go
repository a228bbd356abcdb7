package edit

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// mostOfOther is how many edits of an object of others are tried at most.
const mostOfOther = 4

// OfOther returns changes of an object that isn't a resource of the operator: of the entries of a ConfigMap or Secret,
// or of the fields that the schema of its version has.
func OfOther(complete *unstructured.Unstructured, definitions []*unstructured.Unstructured) []Edit {
	var all []Edit
	if kind := complete.GetKind(); kind == "ConfigMap" || kind == "Secret" {
		all = ofData(complete, kind == "Secret")
	} else {
		all = slices.DeleteFunc(Of(complete, definitions), func(by Edit) bool { return by.Rank != OneField })
	}
	return all[:min(len(all), mostOfOther)]
}

// ofData returns a change of each entry, in the order of the keys.
func ofData(complete *unstructured.Unstructured, isSecret bool) (all []Edit) {
	data, _, _ := unstructured.NestedStringMap(complete.Object, "data")
	for _, key := range slices.Sorted(maps.Keys(data)) {
		value, can := anotherEntry(data[key], isSecret)
		if !can {
			continue
		}
		path := "data." + key
		all = append(all, Edit{Name: path + ": " + valueText(value), Paths: []string{path}, Do: func(obj *unstructured.Unstructured) {
			if entries, is := obj.Object["data"].(map[string]any); is {
				entries[key] = value
			}
		}})
	}
	return distinct(all)
}

// anotherEntry returns another value of an entry. What has several lines, or is JSON, gets one more line, so that it
// stays readable.
func anotherEntry(value string, isSecret bool) (string, bool) {
	if isSecret {
		content, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			return "", false
		}
		changed, _ := anotherEntry(string(content), false)
		return base64.StdEncoding.EncodeToString([]byte(changed)), true
	}
	switch {
	case value == "true":
		return "false", true
	case value == "false":
		return "true", true
	case strings.ContainsAny(value, "\n{["):
		return value + "\n", true
	}
	return counted(value), true
}
