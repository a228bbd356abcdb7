package selection

import (
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ParentOf returns the object of a kind that owns an object by an owner reference, in any version of the kind: the one
// that controls it if there are several, otherwise the first; false if there is none. An owner reference has no
// namespace: the Ref has that of the object, so clear it if the kind isn't namespaced.
func ParentOf(object map[string]any, kind schema.GroupKind) (parent deploy.Ref, ok bool) {
	metadata, _ := object["metadata"].(map[string]any)
	references, _ := metadata["ownerReferences"].([]any)
	for _, item := range references {
		reference, _ := item.(map[string]any)
		apiVersion, _ := reference["apiVersion"].(string)
		version, err := schema.ParseGroupVersion(apiVersion)
		if err != nil || version.Group != kind.Group || reference["kind"] != kind.Kind {
			continue
		}
		controls, _ := reference["controller"].(bool)
		if ok && !controls {
			continue
		}
		parent.Kind = version.WithKind(kind.Kind)
		parent.Name, _ = reference["name"].(string)
		parent.Namespace, _ = metadata["namespace"].(string)
		if ok = true; controls {
			break
		}
	}
	return parent, ok
}
