package temporarypatch

import (
	_ "embed"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
)

//go:embed operkit.dev_temporarypatches.yaml
var definition []byte

// CRD returns the CustomResourceDefinition of temporary patches: of DefaultKind, or of the kind that As sets. Other
// options have no effect. The caller may change the object.
func CRD(opts ...Option) (*unstructured.Unstructured, error) {
	o, err := newOptions(DefaultKind.Group, opts)
	if err != nil {
		return nil, err
	}
	var content map[string]any
	if err := yaml.Unmarshal(definition, &content); err != nil {
		return nil, fmt.Errorf("the definition of %s: %w", DefaultKind.Kind, err)
	}
	crd := &unstructured.Unstructured{Object: content}
	if o.kind == DefaultKind {
		return crd, nil
	}
	return crd, rename(crd, o.kind)
}

// rename changes the kind that the definition defines.
func rename(crd *unstructured.Unstructured, kind schema.GroupVersionKind) error {
	singular := strings.ToLower(kind.Kind)
	plural := singular + "s"
	for _, ending := range []string{"ch", "sh", "s", "x"} {
		if strings.HasSuffix(singular, ending) {
			plural = singular + "es"
		}
	}
	crd.SetName(plural + "." + kind.Group)
	names := map[string]any{"kind": kind.Kind, "listKind": kind.Kind + "List", "singular": singular, "plural": plural}
	if kind.Kind == DefaultKind.Kind {
		names["shortNames"] = []any{"tpatch"}
	}
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	if err != nil {
		return err
	}
	for _, version := range versions {
		if version, isMap := version.(map[string]any); isMap {
			version["name"] = kind.Version
		}
	}
	spec, _ := crd.Object["spec"].(map[string]any)
	spec["group"], spec["names"], spec["versions"] = kind.Group, names, versions
	return nil
}
