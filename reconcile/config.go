package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/plain"
	"github.com/operkit/operkit/reconcile/internal/render"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apijson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"
)

var configMapKind = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

// configOverridesField is the top-level field by which a resource overrides its configuration.
const configOverridesField = "configOverrides"

// Config returns the configuration for the resource. It merges three layers, the last of which wins: the defaults of
// the controller (Defaulter), the ConfigMap that the annotation <domain>/config-defaults names, and the field
// configOverrides of the resource. Maps are merged, everything else is replaced. The ConfigMap is in the resource's
// namespace. Each of its values is read as YAML, or as text if it isn't YAML. If the annotation has the form
// "name/key", the value of that key is the whole layer. The caller may change the map. In Finalize a missing ConfigMap
// is skipped with a warning in the log.
func (s *Session) Config() map[string]any { return render.Layered(s.config) }

// ConfigInto decodes Config into target, a pointer to a struct. If a value doesn't fit, the error is a
// request.Configuration error that names the value.
func (s *Session) ConfigInto(target any) error { return decodeInto("configuration", s.config, target) }

// configure reads the configuration's ConfigMap and merges the layers.
func (r *Reconciler) configure(ctx context.Context, s *Session) error {
	defaults, err := s.configDefaults(ctx)
	if err != nil {
		return err
	}
	return r.layer(s, defaults)
}

// layer merges the layers of the configuration.
func (r *Reconciler) layer(s *Session, defaults map[string]any) error {
	overrides, isMap := s.described.Object[configOverridesField].(map[string]any)
	if given := s.described.Object[configOverridesField]; given != nil && !isMap {
		return request.Configuration("%s: %s is not a map: correct or remove it", deploy.RefOf(s.resource), configOverridesField)
	}
	s.config = render.Layered(r.defaults.Config, defaults, overrides)
	return nil
}

// configDefaults reads the ConfigMap that the resource's annotation names, if it has one.
func (s *Session) configDefaults(ctx context.Context) (map[string]any, error) {
	annotation := s.manager.KeyDomain() + "/config-defaults"
	named := s.resource.GetAnnotations()[annotation]
	if named == "" {
		return nil, nil
	}
	name, key, oneKey := strings.Cut(named, "/")
	ref := deploy.Ref{Kind: configMapKind, Namespace: s.home, Name: name}
	invalid := func(format string, args ...any) error {
		return request.Configuration("annotation %s: %q: %w", annotation, named, fmt.Errorf(format, args...))
	}
	if name == "" || oneKey && key == "" {
		return nil, invalid("is neither <ConfigMap> nor <ConfigMap>/<key>")
	}
	if err := s.Follow(ctx, ref); err != nil {
		return nil, err
	}
	found, err := s.Get(ctx, ref)
	switch {
	case err != nil:
		return nil, fmt.Errorf("annotation %s: %w", annotation, err)
	case found == nil:
		return nil, invalid("%w", &noConfigError{ref})
	}
	data, isMap, err := unstructured.NestedStringMap(found.Object, "data")
	if err != nil || !isMap {
		return nil, invalid("%s has no data", ref)
	}
	if oneKey {
		return configOf(data, ref, key, invalid)
	}
	config := make(map[string]any, len(data))
	for key, text := range data {
		config[key] = yamlOrText(text)
	}
	return config, nil
}

// noConfigError means that the ConfigMap in a resource's annotation doesn't exist.
type noConfigError struct{ ref deploy.Ref }

func (e *noConfigError) Error() string { return fmt.Sprintf("there is no %s", e.ref) }

// configOf returns the configuration under one key of a ConfigMap.
func configOf(data map[string]string, ref deploy.Ref, key string, invalid func(format string, args ...any) error) (map[string]any, error) {
	text, ok := data[key]
	if !ok {
		return nil, invalid("%s has no key %s", ref, key)
	}
	var config map[string]any
	if err := yaml.Unmarshal([]byte(text), &config); err != nil {
		return nil, invalid("key %s of %s is not a YAML map: %w", key, ref, err)
	}
	return config, nil
}

// yamlOrText decodes a value of a ConfigMap as YAML, or returns it as text.
func yamlOrText(text string) any {
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil || value == nil {
		return text
	}
	return value
}

// readDefaults reads the defaults of the controller, once.
func (r *Reconciler) readDefaults() error {
	defaulter, ok := r.controller.(Defaulter)
	if !ok {
		return nil
	}
	defaults := defaulter.Defaults()
	var err error
	if r.defaults.Resource, err = plain.Map(defaults.Resource); err != nil {
		return fmt.Errorf("controller %T: its defaults can't be merged under a resource: %w", r.controller, err)
	}
	if r.defaults.Config, err = plain.Map(defaults.Config); err != nil {
		return fmt.Errorf("controller %T: its defaults can't be merged under a configuration: %w", r.controller, err)
	}
	return nil
}

// Into decodes the resource into target, a pointer to its Go type. The content is the result of Resource without
// metadata.managedFields, and target shares nothing with it. If a field doesn't fit the type, the error is a
// request.Configuration error that names the field; then don't use target. Names of fields are case-sensitive, as
// everywhere in Kubernetes.
func (s *Session) Into(target any) error {
	return decodeInto(deploy.RefOf(s.resource).String(), withoutManagedFields(s.described.Object), target)
}

// withoutManagedFields returns content without the managed fields, which are the larger part of most resources.
func withoutManagedFields(content map[string]any) map[string]any {
	metadata, _ := content["metadata"].(map[string]any)
	if metadata["managedFields"] == nil {
		return content
	}
	content, metadata = maps.Clone(content), maps.Clone(metadata)
	delete(metadata, "managedFields")
	content["metadata"] = metadata
	return content
}

// decodeInto decodes content by way of JSON, which refuses numbers that are too large. Errors begin with the text what.
func decodeInto(what string, content map[string]any, target any) error {
	if at := reflect.ValueOf(target); at.Kind() != reflect.Pointer || at.IsNil() {
		return fmt.Errorf("%s: can't be decoded into a %T: pass a pointer to its Go type", what, target)
	}
	document, err := json.Marshal(content)
	if err == nil {
		err = apijson.Unmarshal(document, target)
	}
	unfit, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case ok:
		return request.Configuration("%s: %s: %s doesn't fit the type %s: correct it", what, strings.TrimPrefix(unfit.Field, "."), unfit.Value, unfit.Type)
	case err != nil:
		return request.Configuration("%s: doesn't fit %T: %w", what, target, err)
	}
	return nil
}
