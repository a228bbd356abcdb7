package cluster_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// fieldPath leads to a field, or to an item of a list: names and indexes.
type fieldPath []any

func (p fieldPath) String() string {
	var text strings.Builder
	for _, step := range p {
		if name, ok := step.(string); ok {
			text.WriteString("." + name)
		} else {
			fmt.Fprintf(&text, "[%d]", step)
		}
	}
	return strings.TrimPrefix(text.String(), ".")
}

// fieldPaths are all paths of an object but those of what every object has.
func fieldPaths(obj map[string]any) []fieldPath {
	var paths []fieldPath
	for _, name := range slices.Sorted(maps.Keys(obj)) {
		if name != "apiVersion" && name != "kind" && name != "metadata" {
			paths = appendPaths(paths, fieldPath{name}, obj[name])
		}
	}
	return paths
}

func appendPaths(paths []fieldPath, path fieldPath, value any) []fieldPath {
	paths = append(paths, path)
	below := func(step any) fieldPath { return append(slices.Clone(path), step) }
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			paths = appendPaths(paths, below(name), value[name])
		}
	case []any:
		for i, item := range value {
			paths = appendPaths(paths, below(i), item)
		}
	}
	return paths
}

// of is what a path leads to, nil if that is nothing.
func (p fieldPath) of(value any) any {
	for _, step := range p {
		switch content := value.(type) {
		case map[string]any:
			name, _ := step.(string)
			value = content[name]
		case []any:
			i, _ := step.(int)
			if i >= len(content) {
				return nil
			}
			value = content[i]
		default:
			return nil
		}
	}
	return value
}

// set puts a value where a path leads to, and makes the maps that it leads through. An item is put in its place.
func (p fieldPath) set(obj map[string]any, value any) {
	if _, isField := p[len(p)-1].(string); isField && len(p) > 1 && p[:len(p)-1].of(obj) == nil {
		p[:len(p)-1].set(obj, map[string]any{})
	}
	p.change(obj, func(list []any, i int) []any { return slices.Insert(list, min(i, len(list)), value) },
		func(content map[string]any, name string) { content[name] = value })
}

// replace puts a value in the place of the one that is there.
func (p fieldPath) replace(obj map[string]any, value any) {
	p.change(obj, func(list []any, i int) []any { list[i] = value; return list },
		func(content map[string]any, name string) { content[name] = value })
}

func (p fieldPath) remove(obj map[string]any) {
	p.change(obj, func(list []any, i int) []any { return slices.Delete(list, i, i+1) },
		func(content map[string]any, name string) { delete(content, name) })
}

// change calls one of both functions for what holds the last step of the path.
func (p fieldPath) change(obj map[string]any, item func([]any, int) []any, field func(map[string]any, string)) {
	holder, last := p[:len(p)-1], p[len(p)-1]
	switch content := holder.of(obj).(type) {
	case map[string]any:
		field(content, last.(string))
	case []any:
		holder.replace(obj, item(content, last.(int)))
	}
}

func removal(path fieldPath) fieldEdit {
	return fieldEdit{fmt.Sprint("removal of ", path), path, path.remove}
}

func setting(path fieldPath, value any) fieldEdit {
	return fieldEdit{fmt.Sprint("later setting of ", path), path, func(obj map[string]any) { path.set(obj, value) }}
}

// otherWords are values of fields that take only some.
var otherWords = map[string][]string{
	"accessModes":                   {"ReadWriteMany"},
	"action":                        {"Count"},
	"addressType":                   {"IPv6", "FQDN"},
	"addresses":                     {"192.0.2.2"},
	"allocationMode":                {"All"},
	"cidrs":                         {"203.0.113.0/24"},
	"clusterIP":                     {"10.0.77.7"},
	"completionMode":                {"Indexed", "NonIndexed"},
	"concurrencyPolicy":             {"Replace"},
	"dnsPolicy":                     {"ClusterFirst"},
	"eventTime":                     {"2031-01-01T00:00:00.000000Z"},
	"externalTrafficPolicy":         {"Cluster"},
	"failurePolicy":                 {"Fail"},
	"fsGroupPolicy":                 {"None"},
	"imagePullPolicy":               {"Always"},
	"internalTrafficPolicy":         {"Cluster"},
	"kind":                          {"Group", "ClusterRole"},
	"operator":                      {"NotIn", "Exists"},
	"persistentVolumeReclaimPolicy": {"Delete"},
	"podManagementPolicy":           {"OrderedReady"},
	"podReplacementPolicy":          {"TerminatingOrFailed"},
	"policyTypes":                   {"Egress"},
	"preemptionPolicy":              {"PreemptLowerPriority", "Never"},
	"protocol":                      {"UDP"},
	"reclaimPolicy":                 {"Delete", "Retain"},
	"restartPolicy":                 {"OnFailure", "Always"},
	"scheme":                        {"HTTPS"},
	"scope":                         {"Cluster"},
	"sessionAffinity":               {"None"},
	"terminationMessagePolicy":      {"File"},
	"type": {
		"RollingUpdate", "Recreate", "OnDelete", "NodePort", "LoadBalancer", "ExternalName", "ClusterIP", "Warning",
		"DirectoryOrCreate", "kubernetes.io/basic-auth",
	},
	"volumeBindingMode":    {"Immediate", "WaitForFirstConsumer"},
	"volumeLifecycleModes": {"Ephemeral", "Persistent"},
	"volumeMode":           {"Block"},
	"whenDeleted":          {"Retain"},
	"whenScaled":           {"Delete"},
	"whenUnsatisfiable":    {"ScheduleAnyway"},
}

// changes are other values of a field of an object, the likely ones first.
func changes(obj map[string]any, path fieldPath) []fieldEdit {
	var values []any
	switch value := path.of(obj).(type) {
	case bool:
		values = []any{!value}
	case int64:
		values = []any{value + 1, value - 1}
	case float64:
		values = []any{int64(value) + 1, int64(value) - 1}
	case string:
		for _, word := range otherWords[lastName(path)] {
			if word != value {
				values = append(values, word)
			}
		}
		values = append(values, value+"x", "7", "7Gi", "bQ==")
	case map[string]any:
		values = []any{map[string]any{}}
	}
	var edits []fieldEdit
	list, _ := path[:len(path)-1].of(obj).([]any)
	for _, value := range values {
		if slices.ContainsFunc(list, func(item any) bool { return fmt.Sprint(item) == fmt.Sprint(value) }) {
			continue // some lists are sets
		}
		edits = append(edits, fieldEdit{
			fmt.Sprintf("change of %s to %v", path, value), path, func(obj map[string]any) { path.replace(obj, value) },
		})
	}
	return edits
}

// lastName is the name of the field that a path leads to, or of the list that it leads into.
func lastName(path fieldPath) string {
	for _, step := range slices.Backward(path) {
		if name, ok := step.(string); ok {
			return name
		}
	}
	return ""
}

// patching is a merge patch.
func patching(t require.TestingT, patch string) fieldEdit {
	var content map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(patch), &content))
	return fieldEdit{"patch " + patch, nil, func(obj map[string]any) { mergeInto(obj, content) }}
}

func mergeInto(obj, patch map[string]any) {
	for name, value := range patch {
		content, isMap := value.(map[string]any)
		below, there := obj[name].(map[string]any)
		switch {
		case value == nil:
			delete(obj, name)
		case isMap && there:
			mergeInto(below, content)
		default:
			obj[name] = runtime.DeepCopyJSONValue(value)
		}
	}
}
