package dryrun

import (
	"maps"

	"github.com/operkit/operkit/deploy"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validate checks the metadata of an object, the content of custom resources and CustomResourceDefinitions, and some
// values of built-in kinds. live is nil for a new object. An update must not change immutable fields.
func (c *Cluster) validate(d *declaration, ref deploy.Ref, next, live *unstructured.Unstructured) error {
	at := field.NewPath("metadata")
	problems := malformed(next, at)
	if len(problems) == 0 {
		problems = validation.ValidateObjectMetaAccessor(unmanaged(next), d.scope == deploy.Namespaced, d.validName, at)
	}
	if live != nil && len(problems) == 0 {
		// The validation requires a resourceVersion. If next had a resourceVersion, update has compared it already.
		next.SetResourceVersion(live.GetResourceVersion())
		problems = validation.ValidateObjectMetaAccessorUpdate(unmanaged(next), unmanaged(live), at)
	}
	var causes []deploy.InvalidField
	if len(problems) == 0 {
		causes = c.checkDefinition(addressOf(ref), next)
		if len(causes) == 0 && d.content != nil {
			causes = d.content.check(next.Object)
		}
		for _, cause := range causes {
			problems = append(problems, field.Invalid(field.NewPath(cause.Field), field.OmitValueType{}, cause.Message))
		}
		problems = append(problems, c.unsupported(d, next)...)
		if live != nil {
			problems = append(problems, c.immutable(d, live, next)...)
		}
	}
	if len(problems) == 0 {
		return nil
	}
	for _, problem := range problems[len(causes):] {
		causes = append(causes, deploy.InvalidField{Field: problem.Field, Message: problem.ErrorBody()})
	}
	return &deploy.InvalidError{Ref: ref, Causes: causes, Err: apierrors.NewInvalid(ref.Kind.GroupKind(), ref.Name, problems)}
}

// unmanaged returns a copy of obj without managedFields. They were written by the field management, and their
// validation would be expensive.
func unmanaged(obj *unstructured.Unstructured) *unstructured.Unstructured {
	metadata := maps.Clone(metadataOf(obj))
	delete(metadata, "managedFields")
	return &unstructured.Unstructured{Object: map[string]any{"metadata": metadata}}
}

// malformed returns an error for each field of metadata that has the wrong type. The accessors of unstructured objects
// ignore such fields.
func malformed(obj *unstructured.Unstructured, at *field.Path) field.ErrorList {
	var problems field.ErrorList
	metadata := metadataOf(obj)
	report := func(name string, err error) {
		if err != nil {
			problems = append(problems, field.TypeInvalid(at.Child(name), metadata[name], err.Error()))
		}
	}
	for _, name := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"} {
		_, _, err := unstructured.NestedString(metadata, name)
		report(name, err)
	}
	for _, name := range []string{"labels", "annotations"} {
		_, _, err := unstructured.NestedStringMap(metadata, name)
		report(name, err)
	}
	_, _, err := unstructured.NestedStringSlice(metadata, "finalizers")
	report("finalizers", err)
	owners, _, err := unstructured.NestedFieldNoCopy(metadata, "ownerReferences")
	report("ownerReferences", err)
	if list, ok := owners.([]any); owners != nil && (!ok || len(obj.GetOwnerReferences()) != len(list)) {
		problems = append(problems, field.TypeInvalid(at.Child("ownerReferences"), owners, "isn't a list of references"))
	}
	return problems
}

// Admission is an admission plugin. It is called for writes, but not for deletions. It may change next, except for the
// fields that identify the object; next already has its managedFields. To refuse the write, it returns an error, which
// becomes a *deploy.ForbiddenError with Content set. live is nil for a new object and must not be changed. An Admission
// must not call the cluster, because the cluster holds a lock while the Admission runs.
type Admission func(request AdmissionRequest, live, next *unstructured.Unstructured) error

// AdmissionRequest describes a write.
type AdmissionRequest struct {
	// Ref names the object. Subresource is the subresource that is written, such as status. It is empty for the object
	// itself.
	Ref         deploy.Ref
	Subresource string
}

func (c *Cluster) admit(ref deploy.Ref, live, next *unstructured.Unstructured, subresource string) error {
	for _, admission := range c.admission {
		if err := admission(AdmissionRequest{ref, subresource}, live, next); err != nil {
			verb := VerbUpdate
			if live == nil {
				verb = VerbCreate
			}
			plural, _ := guessNames(ref.Kind)
			return &deploy.ForbiddenError{
				Verb: string(verb), Resource: schema.GroupResource{Group: ref.Kind.Group, Resource: plural},
				Namespace: ref.Namespace, Name: ref.Name, Content: true, Err: err,
			}
		}
	}
	return nil
}
