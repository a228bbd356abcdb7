package manifest

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Masked stands for each value of a Secret. Under data it is in base64, so that the Secret stays valid.
const Masked = "(masked)"

// maskedJSON stands for values that have to be JSON.
const maskedJSON = "{}"

// jsonKeys are keys of Secrets whose values an API server validates as JSON.
var jsonKeys = map[string]bool{".dockerconfigjson": true, ".dockercfg": true}

// lastApplied is the annotation in which kubectl keeps a whole manifest.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Mask returns object with the values of a Secret masked, in data and stringData, and without the annotation in which
// kubectl repeats them. Items of a list are masked too. object isn't changed, and the result shares data with it.
// reconcile.GeneratedPlaceholder isn't masked.
func Mask(object *unstructured.Unstructured) *unstructured.Unstructured {
	content, _ := mask(object.Object, "")
	return &unstructured.Unstructured{Object: content}
}

// masks reports whether Mask hides something of object.
func masks(object *unstructured.Unstructured) bool {
	_, hides := mask(object.Object, "")
	return hides
}

// mask returns content with values masked, and whether there were any. kind is its kind if it doesn't name one.
func mask(content map[string]any, kind string) (masked map[string]any, hides bool) {
	if given, ok := content["kind"].(string); ok {
		kind = given
	}
	masked = maps.Clone(content)
	if items, isList := content["items"].([]any); isList {
		masked["items"], hides = maskItems(items, strings.TrimSuffix(kind, "List"))
	}
	// The group doesn't matter: any kind that is named Secret is masked.
	if kind != "Secret" {
		return masked, hides
	}
	for _, field := range []string{"data", "stringData"} {
		switch values := content[field].(type) {
		case nil:
		case map[string]any:
			hidden := make(map[string]any, len(values))
			for key, value := range values {
				hidden[key] = maskOf(key, value, field == "data")
				hides = hides || !announces(value, field == "data")
			}
			masked[field] = hidden
		default:
			masked[field], hides = Masked, true
		}
	}
	metadata, _ := content["metadata"].(map[string]any)
	if annotations, _ := metadata["annotations"].(map[string]any); annotations[lastApplied] != nil {
		annotations, metadata = maps.Clone(annotations), maps.Clone(metadata)
		delete(annotations, lastApplied)
		metadata["annotations"], masked["metadata"] = annotations, metadata
		hides = true
	}
	return masked, hides
}

func maskItems(items []any, kind string) (masked []any, hide bool) {
	masked = slices.Clone(items)
	for i, item := range items {
		if content, ok := item.(map[string]any); ok {
			hidden, hides := mask(content, kind)
			masked[i], hide = hidden, hide || hides
		}
	}
	return masked, hide
}

// maskOf returns the value that replaces a value of a Secret.
func maskOf(key string, value any, encoded bool) any {
	text := Masked
	switch {
	case announces(value, encoded):
		return value
	case jsonKeys[key]:
		text = maskedJSON
	}
	if encoded {
		return base64.StdEncoding.EncodeToString([]byte(text))
	}
	return text
}

func announces(value any, encoded bool) bool {
	if encoded {
		return value == base64.StdEncoding.EncodeToString([]byte(reconcile.GeneratedPlaceholder))
	}
	return value == reconcile.GeneratedPlaceholder
}
