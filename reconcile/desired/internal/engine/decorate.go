package engine

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// decorate sets the labels and annotations of a response on the parent, and removes those that are nil. changed: they
// were written.
func (p *pass) decorate(ctx context.Context, response Response) (changed bool, err error) {
	if len(response.Labels)+len(response.Annotations) == 0 {
		return false, nil
	}
	result, err := p.Manager.Change(ctx, p.key, func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		if current.GetUID() != p.seen.Parent.GetUID() {
			return nil, nil
		}
		next := current.DeepCopy()
		next.SetLabels(over(next.GetLabels(), response.Labels))
		next.SetAnnotations(over(next.GetAnnotations(), response.Annotations))
		return next, nil
	})
	if err != nil {
		return false, fmt.Errorf("labels and annotations: %w", err)
	}
	return result.Changed(), nil
}

// over sets and removes keys of present, which it may change.
func over(present map[string]string, wanted map[string]*string) map[string]string {
	for key, value := range wanted {
		switch {
		case value == nil:
			delete(present, key)
		case present == nil:
			present = map[string]string{key: *value}
		default:
			present[key] = *value
		}
	}
	return present
}
