package reconciletest

import (
	"fmt"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// name is how tests speak of an object: "Deployment web", "Deployment.apps shop/web", and with a subresource
// of it "Shop tea status".
type name struct {
	kind, group            string
	anyGroup               bool
	namespace, object, sub string
}

func parseName(text string) (name, error) {
	parts := strings.Fields(text)
	if len(parts) < 2 || len(parts) > 3 {
		return name{}, fmt.Errorf(`%q: is no name of an object such as "Deployment web" or "Shop tea status"`, text)
	}
	n := name{object: parts[1]}
	var grouped bool
	n.kind, n.group, grouped = strings.Cut(parts[0], ".")
	n.anyGroup = !grouped
	if namespace, object, ok := strings.Cut(parts[1], "/"); ok {
		n.namespace, n.object = namespace, object
	}
	if len(parts) == 3 {
		n.sub = parts[2]
	}
	if n.kind == "" || n.object == "" {
		return name{}, fmt.Errorf(`%q: is no name of an object such as "Deployment web" or "Shop tea status"`, text)
	}
	return n, nil
}

// means tells whether ref is what n speaks of, in a harness with that namespace.
func (n name) means(ref deploy.Ref, namespace string) bool {
	if n.namespace != "" {
		namespace = n.namespace
	}
	return n.object == ref.Name && (ref.Namespace == namespace || ref.Namespace == "" && n.namespace == "") && n.meansKind(ref.Kind)
}

func (n name) meansKind(kind schema.GroupVersionKind) bool {
	return n.kind == kind.Kind && (n.anyGroup || n.group == kind.Group)
}
