package reconcile

import (
	"context"
	"fmt"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/plain"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
)

var configMapKind = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

// configOverridesField is where a resource overrides its configuration: beside spec, not in it.
const configOverridesField = "configOverrides"

// Config returns the configuration for the resource: the controller's defaults (ConfigDefaulter), over
// them those of the ConfigMap that the annotation <domain>/config-defaults names, over these what the
// resource has under configOverrides. Maps are merged, everything else is replaced as a whole (spec:
// reconcile 41). The annotation is "name", of a ConfigMap beside the resource whose values are read as
// YAML, or as text where they are none; or "name/key", of which the one value is the configuration. The
// map is the caller's own. In Finalize a ConfigMap that is gone, as it is when the namespace is deleted, is passed
// over with a warning in the log.
func (s *Session) Config() map[string]any { return layered(s.config) }

// ConfigInto decodes Config into target, a pointer to a struct. A value that doesn't fit is an error that
// names it, of the kind that Configuration makes.
func (s *Session) ConfigInto(target any) error { return decodeInto("configuration", s.config, target) }

// configure reads the layers of the configuration.
func (r *Reconciler) configure(ctx context.Context, s *Session) error {
	defaults, err := s.configDefaults(ctx)
	if err != nil {
		return err
	}
	return r.layer(s, defaults)
}

// layer puts the configuration together.
func (r *Reconciler) layer(s *Session, defaults map[string]any) error {
	overrides, isMap := s.described.Object[configOverridesField].(map[string]any)
	if given := s.described.Object[configOverridesField]; given != nil && !isMap {
		return Configuration("%s: %s is no map: give it fields, or leave it out", deploy.RefOf(s.resource), configOverridesField)
	}
	s.config = layered(r.configDefaults, defaults, overrides)
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
		return Configuration("annotation %s: %q: %w", annotation, named, fmt.Errorf(format, args...))
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

// noConfigError: the ConfigMap that a resource names isn't there.
type noConfigError struct{ ref deploy.Ref }

func (e *noConfigError) Error() string { return fmt.Sprintf("there is no %s", e.ref) }

// configOf is the configuration under one key of a ConfigMap.
func configOf(data map[string]string, ref deploy.Ref, key string, invalid func(format string, args ...any) error) (map[string]any, error) {
	text, ok := data[key]
	if !ok {
		return nil, invalid("%s has no key %s", ref, key)
	}
	var config map[string]any
	if err := yaml.Unmarshal([]byte(text), &config); err != nil {
		return nil, invalid("key %s of %s is no YAML map: %w", key, ref, err)
	}
	return plain.Map(config)
}

// yamlOrText is what a value of a ConfigMap says (spec: reconcile mistake 8).
func yamlOrText(text string) any {
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil || value == nil {
		return text
	}
	if whole, err := plain.Map(map[string]any{"": value}); err == nil {
		return whole[""]
	}
	return text
}
