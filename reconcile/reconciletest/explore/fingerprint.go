package explore

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fingerprint returns a short text that is the same for clusters in which an operator without memory goes on in the
// same way. Unlike a state that is compared, it has all objects, the managers of their fields, and which owner a
// reference means: one that is gone isn't a new one of the same name. Values that m masks don't count. further
// distinguishes what else matters.
func fingerprint(objects []*unstructured.Unstructured, m mask, further ...any) string {
	names := map[string]string{}
	for _, obj := range objects {
		names[string(obj.GetUID())] = nameOf(obj)
	}
	s := collect(objects, undated)
	m.cover(s)
	content, err := json.Marshal(s)
	if err != nil {
		return err.Error() // objects are JSON that a cluster has held
	}
	identified := uids.ReplaceAllFunc(content, func(uid []byte) []byte {
		if name, is := names[string(uid)]; is {
			return []byte(name)
		}
		return []byte("gone")
	})
	return fmt.Sprintf("%x %v", sha256.Sum256(identified), further)
}

// undated returns the content of an object without versions and times.
func undated(obj *unstructured.Unstructured) map[string]any {
	content := obj.DeepCopy().Object
	metadata, _ := content["metadata"].(map[string]any)
	for _, field := range []string{"resourceVersion", "generation", "creationTimestamp"} {
		delete(metadata, field)
	}
	for _, field := range []string{"metadata", "status"} {
		if content[field] != nil {
			content[field] = replaced(field, content[field], dateless(obj.GetGeneration()))
		}
	}
	return content
}
