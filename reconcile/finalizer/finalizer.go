package finalizer

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Provider is a watch.Reconciler, of any style, whose finalizers may have other names than Names returns.
type Provider interface {
	// Finalizers returns the names of all finalizers that are its own, also those that only earlier releases added.
	Finalizers() []string
}

// Names returns the default names of the finalizer of a kind: first the name that operkit adds, then the name that
// oper8 added, which Kubernetes warns about, because it has no slash.
func Names(kind schema.GroupVersionKind) []string {
	name := strings.TrimSuffix(strings.ToLower(kind.Kind)+"."+kind.Group, ".")
	return []string{name + "/finalizer", "finalizers." + name}
}
