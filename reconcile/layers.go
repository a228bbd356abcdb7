package reconcile

import (
	"fmt"

	"github.com/operkit/operkit/reconcile/internal/plain"
	"k8s.io/apimachinery/pkg/runtime"
)

// readDefaults asks the controller for its defaults, once.
func (r *Reconciler) readDefaults() error {
	var err error
	if defaulter, ok := r.controller.(Defaulter); ok {
		if r.defaults, err = plain.Map(defaulter.Defaults()); err != nil {
			return fmt.Errorf("controller %T: its Defaults can't be merged under a resource: %w", r.controller, err)
		}
	}
	if defaulter, ok := r.controller.(ConfigDefaulter); ok {
		if r.configDefaults, err = plain.Map(defaulter.ConfigDefaults()); err != nil {
			return fmt.Errorf("controller %T: its ConfigDefaults are no configuration: %w", r.controller, err)
		}
	}
	return nil
}

// layered merges layers, later ones over earlier ones: maps key by key, everything else as a whole. The
// layers aren't changed, and the result shares nothing with them (spec: reconcile 41, 54).
func layered(layers ...map[string]any) map[string]any {
	out := map[string]any{}
	for _, layer := range layers {
		overlay(out, layer)
	}
	return out
}

func overlay(base, layer map[string]any) {
	for key, value := range layer {
		above, isMap := value.(map[string]any)
		if !isMap {
			base[key] = runtime.DeepCopyJSONValue(value)
			continue
		}
		below, ok := base[key].(map[string]any)
		if !ok {
			below = map[string]any{}
			base[key] = below
		}
		overlay(below, above)
	}
}
