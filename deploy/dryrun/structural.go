package dryrun

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// Extensions of the schemas of custom resources.
const (
	preserveUnknownFields = "x-kubernetes-preserve-unknown-fields"
	embeddedResource      = "x-kubernetes-embedded-resource"
	intOrString           = "x-kubernetes-int-or-string"
)

// structural is the schema of a custom resource. It prunes, defaults and validates objects. It is immutable.
type structural struct {
	schema    *spec.Schema
	validator *validate.SchemaValidator
	// keepsAll means that nothing is pruned.
	keepsAll bool
}

func newStructural(s *spec.Schema, keepsAll bool) (*structural, error) {
	s, err := copied(s)
	if err != nil {
		return nil, err
	}
	// A field with x-kubernetes-int-or-string has both types for validation, and no type for merging.
	checked, err := copied(s)
	if err != nil {
		return nil, err
	}
	eachSchema(checked, func(s *spec.Schema) {
		if extended(s, intOrString) {
			s.Type = spec.StringOrArray{"integer", "string"}
		}
	})
	eachSchema(s, func(s *spec.Schema) { s.Default = wholeNumbers(s.Default) })
	return &structural{s, validate.NewSchemaValidator(checked, nil, "", strfmt.Default), keepsAll}, nil
}

// complete prunes content and fills in defaults.
func (s *structural) complete(content map[string]any) {
	if s.schema == nil {
		return
	}
	s.unknown(content, true)
	if !s.keepsAll {
		dropNulls(content, s.schema)
	}
	fillIn(content, s.schema)
}

// unknown returns the fields that the schema doesn't have, and removes them if prune is set.
func (s *structural) unknown(content map[string]any, prune bool) []UnknownField {
	if s.schema == nil || s.keepsAll {
		return nil
	}
	p := pruner{remove: prune}
	p.object(content, s.schema, "", true)
	return p.found
}

// fieldOf returns the schema of a field and reports whether the field is allowed. The schema is nil if the field has
// none.
func fieldOf(s *spec.Schema, name string) (*spec.Schema, bool) {
	if property, ok := s.Properties[name]; ok {
		return &property, true
	}
	if s.AdditionalProperties == nil {
		return nil, false
	}
	return s.AdditionalProperties.Schema, s.AdditionalProperties.Schema != nil || s.AdditionalProperties.Allows
}

func itemsOf(s *spec.Schema) *spec.Schema {
	if s == nil || s.Items == nil {
		return nil
	}
	return s.Items.Schema
}

// check validates content and returns the invalid fields.
func (s *structural) check(content map[string]any) []deploy.InvalidField {
	if s.schema == nil {
		return nil
	}
	var causes []deploy.InvalidField
	for _, err := range s.validator.Validate(content).Errors {
		cause := deploy.InvalidField{Message: err.Error()}
		var located *openapierrors.Validation
		if errors.As(err, &located) {
			cause.Field = located.Name
		}
		causes = append(causes, cause)
	}
	return causes
}

// wholeNumbers turns each float whose value is integral into an integer, because objects hold such numbers as integers.
func wholeNumbers(value any) any {
	switch value := value.(type) {
	case float64:
		if whole := int64(value); float64(whole) == value {
			return whole
		}
	case map[string]any:
		for name, item := range value {
			value[name] = wholeNumbers(item)
		}
	case []any:
		for i, item := range value {
			value[i] = wholeNumbers(item)
		}
	}
	return value
}

func extended(s *spec.Schema, extension string) bool {
	on, _ := s.Extensions.GetBool(extension)
	return on
}

// eachSchema calls change for a schema and all schemas below it. change may modify its argument.
func eachSchema(s *spec.Schema, change func(*spec.Schema)) {
	if s == nil {
		return
	}
	for name, property := range s.Properties {
		eachSchema(&property, change)
		s.Properties[name] = property
	}
	if s.AdditionalProperties != nil {
		eachSchema(s.AdditionalProperties.Schema, change)
	}
	eachSchema(itemsOf(s), change)
	change(s)
}

func copied(s *spec.Schema) (*spec.Schema, error) {
	if s == nil {
		return nil, nil
	}
	content, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	out := &spec.Schema{}
	return out, json.Unmarshal(content, out)
}
