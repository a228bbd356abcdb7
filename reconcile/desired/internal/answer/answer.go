package answer

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/render"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Rules say which children a parent may have.
type Rules struct {
	// Parent is the parent.
	Parent deploy.Ref
	// Kinds are the declared kinds, by group and kind.
	Kinds map[schema.GroupKind]schema.GroupVersionKind
	// Scopes are the scopes of the declared kinds that are served.
	Scopes map[schema.GroupVersionKind]deploy.Scope
}

// Fault is what is wrong with a child.
type Fault struct {
	// Place is the place of the child in the answer. Child names it, as far as it has names.
	Place int
	Child deploy.Ref
	// Reason says what is wrong and what to do.
	Reason string
}

// Child is a wanted child.
type Child struct {
	Ref deploy.Ref
	// Object is what the function has returned, with its namespace, and without what only the cluster sets.
	Object *unstructured.Unstructured
	// Kept: the child stays as it is, because the function has returned the observed one without a change, or because it
	// waits for its turn in a roll.
	Kept bool
}

// Read returns the wanted children in their order, and everything that is wrong with them. observed returns the
// observed child of a name, nil if there is none.
func (r Rules) Read(values []any, observed func(deploy.Ref) *unstructured.Unstructured) (children []Child, faults []Fault) {
	children = make([]Child, 0, len(values))
	places := make(map[deploy.Ref]int, len(values))
	for i, value := range values {
		child, reason := r.read(value, observed)
		if first, doubled := places[child.Ref]; doubled && reason == "" {
			reason = fmt.Sprintf("it is returned twice, as children %d and %d: return each child once", first, i)
		}
		if reason != "" {
			faults = append(faults, Fault{i, child.Ref, reason})
			continue
		}
		places[child.Ref] = i
		children = append(children, child)
	}
	return children, faults
}

func (r Rules) read(value any, observed func(deploy.Ref) *unstructured.Unstructured) (child Child, wrong string) {
	obj, err := render.Object(value)
	if err != nil {
		return child, err.Error()
	}
	child.Ref = deploy.RefOf(obj)
	if wrong = r.checkKind(child.Ref.Kind); wrong != "" {
		return child, wrong
	}
	if child.Ref.Name == "" {
		if obj.GetGenerateName() != "" {
			return child, "it has a generateName and no name: set metadata.name, so that the child is found again"
		}
		return child, "it has no name: set metadata.name"
	}
	namespace, wrong := r.namespaceOf(child.Ref)
	if wrong != "" {
		return child, wrong
	}
	child.Ref.Namespace = namespace
	if child.Kept = isAsObserved(obj, observed(child.Ref)); child.Kept {
		child.Object = obj
		return child, ""
	}
	child.Object, err = intentOf(obj, namespace)
	if err != nil {
		return child, err.Error()
	}
	return child, ""
}

// isAsObserved reports whether a child is the observed one, unchanged.
func isAsObserved(obj, observed *unstructured.Unstructured) bool {
	return observed != nil && obj.GetUID() != "" && obj.GetUID() == observed.GetUID() && reflect.DeepEqual(obj.Object, observed.Object)
}

func (r Rules) checkKind(kind schema.GroupVersionKind) (wrong string) {
	switch declared, ok := r.Kinds[kind.GroupKind()]; {
	case !ok:
		return fmt.Sprintf("the kind %s isn't declared: declare it by Child", describe(kind))
	case declared != kind:
		return fmt.Sprintf("the kind is declared as %s, the child is of %s: use one version", describe(declared), describe(kind))
	}
	return ""
}

func describe(kind schema.GroupVersionKind) string {
	return fmt.Sprintf("%s of %s", kind.Kind, kind.GroupVersion())
}

// namespaceOf returns the namespace of a child.
func (r Rules) namespaceOf(child deploy.Ref) (namespace, wrong string) {
	home := r.Parent.Namespace
	scope, isServed := r.Scopes[child.Kind]
	switch isNamespaced := scope == deploy.Namespaced; {
	case !isServed: // it is an error of its own, which passes when the kind is served
		return cmp.Or(child.Namespace, home), ""
	case !isNamespaced && home != "":
		return "", "its kind is cluster-scoped and the parent is namespaced, so it can't be owned: use a cluster-scoped parent"
	case !isNamespaced && child.Namespace != "":
		return "", fmt.Sprintf("its kind is cluster-scoped, and it names the namespace %q: leave the namespace out", child.Namespace)
	case !isNamespaced:
		return "", ""
	case home == "" && child.Namespace == "":
		return "", "it has no namespace, and the parent has none either: set metadata.namespace"
	case home != "" && child.Namespace != "" && child.Namespace != home:
		return "", fmt.Sprintf("it is in the namespace %q, and the parent is in %q: leave the namespace out", child.Namespace, home)
	}
	return cmp.Or(child.Namespace, home), ""
}

// set are the fields of metadata that only the cluster sets.
var set = []string{
	"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink",
}

// intentOf returns a child without its status, and without the fields of metadata that only the cluster sets.
func intentOf(obj *unstructured.Unstructured, namespace string) (*unstructured.Unstructured, error) {
	content, isMap := obj.Object["metadata"].(map[string]any)
	if !isMap {
		return nil, errors.New("its metadata isn't a map")
	}
	_, hasStatus := obj.Object["status"]
	isSet := func(field string, _ any) bool { return slices.Contains(set, field) }
	superfluous := hasStatus || content["namespace"] != namespace && namespace != ""
	for field, value := range content {
		superfluous = superfluous || isSet(field, value)
	}
	if !superfluous {
		return obj, nil
	}
	intent, metadata := maps.Clone(obj.Object), maps.Clone(content)
	delete(intent, "status")
	maps.DeleteFunc(metadata, isSet)
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	intent["metadata"] = metadata
	return &unstructured.Unstructured{Object: intent}, nil
}
