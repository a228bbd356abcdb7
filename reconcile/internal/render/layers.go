package render

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// Layered merges layers, later ones over earlier ones: maps key by key, everything else as a whole. The layers aren't
// changed, and the result shares nothing with them.
func Layered(layers ...map[string]any) map[string]any {
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
