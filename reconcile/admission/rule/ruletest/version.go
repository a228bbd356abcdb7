package ruletest

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// updating is the part of the API server's strategies that updates need.
type updating interface {
	PrepareForUpdate(ctx context.Context, obj, old runtime.Object)
	ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList
}

// storing is the API server's strategy for objects of a version.
type storing interface {
	updating
	PrepareForCreate(ctx context.Context, obj runtime.Object)
	Validate(ctx context.Context, obj runtime.Object) field.ErrorList
}

// servedVersion is a version of a definition.
type servedVersion struct {
	served     bool
	structural *schema.Structural
	strategy   storing
	// status is the strategy for the status, nil if that is no subresource.
	status updating
	// alone evaluate one rule each.
	alone []alone
}

// newVersion compiles a version as the API server does when it begins to serve it.
func newVersion(definition *apiextensionsv1.CustomResourceDefinition, i int) (*servedVersion, error) {
	from := definition.Spec.Versions[i]
	internal := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(from.Schema, internal, nil); err != nil {
		return nil, err
	}
	structural, err := schema.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	v := &servedVersion{served: from.Served, structural: structural.DeepCopy()}
	if err := defaulting.PruneDefaults(v.structural); err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	subresources := &apiextensions.CustomResourceSubresources{}
	if from.Subresources != nil {
		if err := apiextensionsv1.Convert_v1_CustomResourceSubresources_To_apiextensions_CustomResourceSubresources(from.Subresources, subresources, nil); err != nil {
			return nil, err
		}
	}
	var statusValidator validation.SchemaValidator
	if status, ok := internal.OpenAPIV3Schema.Properties["status"]; ok && subresources.Status != nil {
		if statusValidator, _, err = validation.NewSchemaValidator(&status); err != nil {
			return nil, err
		}
	}
	kind := runtimeschema.GroupVersionKind{Group: definition.Spec.Group, Version: from.Name, Kind: definition.Spec.Names.Kind}
	strategy := customresource.NewStrategy(nil, definition.Spec.Scope == apiextensionsv1.NamespaceScoped, kind, validator, statusValidator,
		v.structural, subresources.Status, subresources.Scale, from.SelectableFields)
	if v.strategy = strategy; subresources.Status != nil {
		v.status = customresource.NewStatusStrategy(strategy)
	}
	if rest := newAlone(v.structural, nil); rest.validator != nil {
		v.alone = append(v.alone, rest)
	}
	return v, nil
}

// read brings an object to the form in which the API server reads it: without unknown fields, and with defaults. It
// returns a warning for each unknown field.
func (v *servedVersion) read(object *unstructured.Unstructured) (warnings []string, err error) {
	metadata, found, unknown, err := objectmeta.GetObjectMetaWithOptions(object.Object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return nil, err
	}
	apiVersion, kind := object.GetAPIVersion(), object.GetKind()
	unknown = append(unknown, pruning.PruneWithOptions(object.Object, v.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	defaulting.PruneNonNullableNullsWithoutDefaults(object.Object, v.structural)
	mistake, more := objectmeta.CoerceWithOptions(nil, object.Object, v.structural, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	if mistake != nil {
		return nil, mistake
	}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	if found {
		if err := objectmeta.SetObjectMeta(object.Object, metadata); err != nil {
			return nil, err
		}
	}
	defaulting.Default(object.Object, v.structural)
	for _, path := range append(unknown, more...) {
		warnings = append(warnings, fmt.Sprintf("unknown field %q", path))
	}
	return warnings, nil
}
