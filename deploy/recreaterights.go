package deploy

import "k8s.io/apimachinery/pkg/runtime/schema"

// RecreateRights returns what a strategy that recreates needs to read before it deletes an object of a kind, see
// Recreate: the objects that might be deleted with it, and the quotas that a new object has to fit in. The owners of
// claims are read, too, if there are any; their kinds aren't known before. What is done with the object itself isn't
// among these rights.
func RecreateRights(kind schema.GroupVersionKind, scope Scope) (rights []Right) {
	list := func(kind schema.GroupVersionKind) {
		rights = append(rights, Right{Kind: kind, Verbs: []string{"list"}})
	}
	for _, protected := range protectedKinds {
		if mayOwn(scope, protected.Kind) {
			list(protected.WithVersion("v1"))
		}
	}
	if scope == Namespaced {
		list(quotaKind)
	}
	if kind.GroupKind() == serviceKind.GroupKind() {
		list(serviceKind)
	}
	return rights
}

// mayOwn reports whether an object of a scope can own objects of a protected kind: a namespaced object can own only
// claims in its namespace, and a cluster-scoped object can own objects of any protected kind.
func mayOwn(scope Scope, protected string) bool {
	return scope == ClusterScoped || protected == "PersistentVolumeClaim"
}
