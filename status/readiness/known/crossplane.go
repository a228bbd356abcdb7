package known

import (
	"slices"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/readiness"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Managed returns a Registry with the rule for Crossplane's managed resources, such as a Bucket of a provider. The
// caller names the kinds: there are hundreds in the groups of the providers, and an object that wasn't handled yet
// doesn't tell that it is one. ManagedKinds finds them among CustomResourceDefinitions.
func Managed(kinds ...schema.GroupKind) readiness.Registry {
	registry := readiness.Registry{}
	for _, kind := range kinds {
		registry[kind] = row{kind.Group, kind.Kind, "Crossplane", managed}.expectation()
	}
	return registry
}

// ManagedKinds returns the kinds among the CustomResourceDefinitions that are managed resources of Crossplane: those
// with the category managed. Claims and composite resources aren't among them.
func ManagedKinds(definitions ...*unstructured.Unstructured) (kinds []schema.GroupKind) {
	for _, definition := range definitions {
		categories, _, _ := unstructured.NestedStringSlice(definition.Object, "spec", "names", "categories")
		if slices.Contains(categories, "crossplane") && slices.Contains(categories, "managed") {
			kinds = append(kinds, kindOf(definition))
		}
	}
	return kinds
}

func kindOf(definition *unstructured.Unstructured) schema.GroupKind {
	spec := condition.Map(definition.Object, "spec")
	return schema.GroupKind{Group: condition.Text(spec, "group"), Kind: condition.Text(condition.Map(spec, "names"), "kind")}
}

// managed is the row of Crossplane's managed resources: Synced and Ready have to be True. Synced is False when the last
// handling failed, or while the resource is paused. Ready is False with the reason Creating at first, and with the
// reason Unavailable while the external resource doesn't work, which many providers also report while it starts. A
// provider made with Upjet works in the background, and reports a failure of that in LastAsyncOperation.
//
// Conditions: https://github.com/crossplane/crossplane-runtime/blob/main/apis/common/v1/condition.go
// Upjet: https://github.com/crossplane/upjet/blob/main/pkg/resource/conditions.go
func managed(o object) readiness.Result {
	isReady, synced, async := o.condition("Ready"), o.condition("Synced"), o.condition("LastAsyncOperation")
	switch {
	case synced.reason == "ReconcilePaused" && synced.isFalse():
		result := synced.waits()
		if synced.message == "" {
			result.Message = "the resource is paused, so Crossplane doesn't work on it"
		}
		return result
	case synced.isFalse():
		return synced.fails()
	case async.isFalse():
		return async.fails()
	case !synced.holds():
		return synced.waits()
	case !isReady.holds():
		return isReady.waits()
	}
	return isReady.done()
}
