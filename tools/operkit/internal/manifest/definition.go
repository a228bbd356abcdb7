package manifest

import (
	"fmt"

	"sigs.k8s.io/yaml"
)

// Definition formats a document as controller-gen does: with the same order of keys, and long lines wrapped.
func Definition(text []byte) ([]byte, error) {
	var document map[string]any
	if err := yaml.UnmarshalStrict(text, &document); err != nil {
		return nil, fmt.Errorf("definition: %w", err)
	}
	written, err := yaml.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("definition: %w", err)
	}
	return append([]byte("---\n"), written...), nil
}
