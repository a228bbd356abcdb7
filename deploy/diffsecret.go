package deploy

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// lastApplied is the annotation in which kubectl remembers a whole manifest.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// redact puts digests in the place of the values of a Secret, also where kubectl remembers them.
// content is changed.
func redact(content map[string]any) {
	redactFields(content)
	annotations, _, err := unstructured.NestedFieldNoCopy(content, "metadata", "annotations")
	fields, ok := annotations.(map[string]any)
	if err != nil || !ok || fields[lastApplied] == nil {
		return
	}
	var manifest map[string]any
	text, _ := fields[lastApplied].(string)
	if json.Unmarshal([]byte(text), &manifest) != nil {
		fields[lastApplied] = digest([]byte(text))
		return
	}
	redact(manifest) // whoever applied what was read may have left one within the other
	if short, err := json.Marshal(manifest); err == nil {
		fields[lastApplied] = string(short)
	}
}

func redactFields(content map[string]any) {
	for _, field := range []string{"data", "stringData"} {
		switch values := content[field].(type) {
		case nil:
		case map[string]any:
			for key, value := range values {
				values[key] = digestOf(value, field == "data")
			}
		default:
			content[field] = digestOf(values, false)
		}
	}
}

// digestOf is the same for a value of stringData and what becomes of it in data.
func digestOf(value any, encoded bool) any {
	if value == nil {
		return nil
	}
	text, isText := value.(string)
	if !isText {
		raw, err := json.Marshal(value)
		if err != nil {
			raw = []byte(fmt.Sprint(value))
		}
		return digest(raw)
	}
	if encoded {
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
			return digest(raw)
		}
	}
	return digest([]byte(text))
}

func digest(value []byte) string {
	sum := sha256.Sum256(value)
	return fmt.Sprintf("sha256:%x (%d bytes)", sum[:6], len(value))
}
