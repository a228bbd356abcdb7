package readiness

import (
	"reflect"
	"strings"
	"sync"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/internal/structs"
)

// heavy are parts of spec and metadata that no rule reads. They aren't converted, because they make up most of a typed
// object.
var heavy = map[string][]string{
	"metadata": {"managedFields", "annotations", "labels", "ownerReferences"},
	"spec": {
		"template", "jobTemplate", "volumeClaimTemplates", "selector", // of workloads
		"containers", "initContainers", "volumes", "affinity", "tolerations", // of Pods
		"versions", "rules", // of definitions and routes
	},
}

// typedDocument returns the parts of a struct that the rules read, nil if it has none of them.
func typedDocument(object reflect.Value) map[string]any {
	var document map[string]any
	for _, key := range [...]string{"apiVersion", "kind", "metadata", "spec", "status"} {
		index := structs.Index(object.Type(), key)
		if index == nil {
			continue
		}
		if document == nil {
			document = map[string]any{}
		}
		if part, ok := structs.At(object, index); ok {
			document[key] = structs.Document(part, heavy[key]...)
		}
	}
	return document
}

// everything returns the whole object, for rules that may look at any part of it.
func (s *subject) everything() map[string]any {
	if !s.whole.IsValid() {
		return s.document
	}
	document, ok := structs.Document(s.whole).(map[string]any)
	if !ok { // it doesn't encode to a map, or can't be encoded
		document = map[string]any{}
	}
	if document["kind"] == nil || document["kind"] == "" {
		document["kind"] = s.kind
	}
	return document
}

// annotation returns an annotation, empty when there is none.
func (s *subject) annotation(key string) string {
	if s.whole.IsValid() {
		if object, ok := s.whole.Addr().Interface().(interface{ GetAnnotations() map[string]string }); ok {
			return object.GetAnnotations()[key]
		}
	}
	return condition.Text(condition.Map(s.metadata, "annotations"), key)
}

// kinds caches the keys of Go types: reflect.Type to key.
var kinds sync.Map

// kindOf returns the group and kind of a Kubernetes type that has a row in the table, empty strings for other types.
// The package path of such a type ends in the first label of the group and the version, as in k8s.io/api/networking/v1.
// The label of the core group is core.
func kindOf(t reflect.Type) (group, kind string) {
	if known, ok := kinds.Load(t); ok {
		return known.(key).group, known.(key).kind
	}
	var found key
	parts := strings.Split(t.PkgPath(), "/")
	if len(parts) >= 3 && parts[0] == "k8s.io" {
		for each := range table {
			label, _, _ := strings.Cut(each.group, ".")
			if label == "" {
				label = "core"
			}
			if each.kind == t.Name() && label == parts[len(parts)-2] {
				found = each
			}
		}
	}
	kinds.Store(t, found)
	return found.group, found.kind
}
