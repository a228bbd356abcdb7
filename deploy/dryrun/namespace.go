package dryrun

import (
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var namespaceKind = schema.GroupKind{Kind: "Namespace"}

// standardNamespaces exist in every cluster.
var standardNamespaces = []string{metav1.NamespaceDefault, "kube-node-lease", metav1.NamespacePublic, metav1.NamespaceSystem}

func namespaceAddress(name string) address { return address{namespaceKind, "", name} }

func newNamespace(name string) *unstructured.Unstructured {
	obj := emptyObject(namespaceKind.WithVersion("v1"))
	obj.SetName(name)
	completeNamespace(obj)
	return obj
}

// completeNamespace sets the fields that a server sets on a Namespace.
func completeNamespace(obj *unstructured.Unstructured) {
	// An error means that the labels aren't a map. The validation reports this.
	_ = unstructured.SetNestedField(obj.Object, obj.GetName(), "metadata", "labels", "kubernetes.io/metadata.name")
	obj.Object["spec"] = map[string]any{"finalizers": []any{"kubernetes"}}
	obj.Object["status"] = map[string]any{"phase": "Active"}
}

// withNamespaces returns the namespaces that the seeds lack, followed by the seeds.
func withNamespaces(o options) []*unstructured.Unstructured {
	given := givenNamespaces(o.seeds)
	var names []string
	if o.namespacesExist() {
		names = append(names, standardNamespaces...)
	}
	var all []*unstructured.Unstructured
	for _, name := range append(names, o.namespaces...) {
		if !given[name] && name != allNamespaces {
			given[name] = true
			all = append(all, newNamespace(name))
		}
	}
	return append(all, o.seeds...)
}

func givenNamespaces(seeds []*unstructured.Unstructured) map[string]bool {
	given := map[string]bool{}
	for _, obj := range seeds {
		if deploy.RefOf(obj).Kind.GroupKind() == namespaceKind {
			given[obj.GetName()] = true
		}
	}
	return given
}

// placed returns an error if the namespace of a new object doesn't exist or is being deleted. The lock is held.
func (c *Cluster) placed(ref deploy.Ref) error {
	if ref.Namespace == "" {
		return nil
	}
	namespace := c.storage.get(namespaceAddress(ref.Namespace))
	switch {
	case namespace == nil && c.namespacesExist:
		return &deploy.NotFoundError{Ref: ref, Err: apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, ref.Namespace)}
	case namespace != nil && namespace.GetDeletionTimestamp() != nil:
		plural, _ := guessNames(ref.Kind)
		resource := schema.GroupResource{Group: ref.Kind.Group, Resource: plural}
		err := apierrors.NewForbidden(resource, ref.Name,
			fmt.Errorf("unable to create new content in namespace %s because it is being terminated", ref.Namespace))
		err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
			Type: "NamespaceTerminating", Field: "metadata.namespace", Message: fmt.Sprintf("namespace %s is being terminated", ref.Namespace),
		})
		return &deploy.ForbiddenError{Verb: string(VerbCreate), Resource: resource, Namespace: ref.Namespace, Name: ref.Name, Err: err}
	}
	return nil
}

// contents returns the addresses of the objects that are deleted with the object at an address: the objects in a
// namespace, or the custom resources of a CustomResourceDefinition. The lock is held.
func (c *Cluster) contents(at address) []address {
	switch at.kind {
	case namespaceKind:
		return c.storage.inNamespace(at.name)
	case definitionKind:
		if kind, ok := c.kinds.defined(at.name); ok {
			return c.storage.addressesOf(kind, "")
		}
	}
	return nil
}

// empty reports whether an object has no contents. The lock is held.
func (c *Cluster) empty(at address) bool {
	switch at.kind {
	case namespaceKind:
		return c.storage.populations[at.name] == 0
	case definitionKind:
		kind, ok := c.kinds.defined(at.name)
		return !ok || len(c.storage.kinds[kind]) == 0
	}
	return true
}

// containers returns the addresses of the objects whose contents include the object at an address: its namespace and
// the CustomResourceDefinition of its kind.
func (c *Cluster) containers(at address) []address {
	var holders []address
	if at.namespace != "" {
		holders = append(holders, namespaceAddress(at.namespace))
	}
	if name, ok := c.kinds.definedBy[at.kind]; ok {
		holders = append(holders, address{definitionKind, "", name})
	}
	return holders
}

var errGone = errors.New("uid or resourceVersion of an object that doesn't exist")
