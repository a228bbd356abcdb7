package dryrun

import (
	"fmt"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Completed is an object as an API server would store it.
type Completed struct {
	// Object is the object as it would be stored.
	Object *unstructured.Unstructured
	// Unknown are the fields that were left out, because the kind doesn't have them.
	Unknown []UnknownField
	// Schemaless means that the cluster has no schema of the kind: no CustomResourceDefinition declares it, and it isn't
	// built in. Object then has no defaults, and only unknown fields of its metadata were left out.
	Schemaless bool
}

// Complete returns a copy of obj as an API server would store it: without the fields that its kind doesn't have, and
// with the defaults of its CustomResourceDefinition. Objects puts objects into a cluster as they are given: call
// Complete before, for objects of files that no API server has seen. Complete stores nothing, validates no values, and
// sets neither defaults of built-in kinds nor the metadata that a server sets. For a kind that the cluster doesn't
// serve it returns a *deploy.KindUnknownError.
func (c *Cluster) Complete(obj *unstructured.Unstructured) (Completed, error) {
	ref := deploy.RefOf(obj)
	d, err := c.declared(ref.Kind)
	if err != nil {
		return Completed{}, err
	}
	next, err := asSent(obj)
	if err != nil {
		return Completed{}, &deploy.InvalidManifestError{Ref: ref, Reason: err.Error()}
	}
	completed := Completed{Object: next, Schemaless: !d.strict}
	completed.Unknown = d.unknown(next, true)
	if !d.strict || d.content != nil {
		unknown, err := c.kinds.builtin.unknownMetadata(next)
		if err != nil {
			return Completed{}, err
		}
		completed.Unknown = append(unknown, completed.Unknown...)
	}
	d.complete(next)
	return completed, nil
}

// unknownMetadata returns the fields of an object's metadata that no object has, and removes them.
func (b *builtins) unknownMetadata(obj *unstructured.Unstructured) ([]UnknownField, error) {
	types, err := b.closure(objectMetaType)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	name := objectMetaType
	metadata := typed.ParseableType{Schema: types, TypeRef: smd.TypeRef{NamedType: &name}}
	return undeclared(metadata, obj.Object["metadata"], field.NewPath("metadata"), true), nil
}
