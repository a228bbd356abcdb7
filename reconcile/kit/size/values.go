package size

import (
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Values are what a size sets in the workloads of a component. The zero value sets nothing.
type Values struct {
	// Replicas is the number of Pods, nil if the size doesn't set it.
	Replicas *int32
	// Resources are those of each container that isn't in Containers, nil if the size doesn't set them. Init containers
	// get resources from Containers only.
	Resources *corev1.ResourceRequirements
	// Containers has the resources of containers and init containers, by their names.
	Containers map[string]corev1.ResourceRequirements
}

// ResourcesOf returns the resources of a container that isn't an init container. The second result reports whether the
// size sets them.
func (v Values) ResourcesOf(container string) (corev1.ResourceRequirements, bool) {
	if named, has := v.Containers[container]; has {
		return *named.DeepCopy(), true
	}
	if v.Resources == nil {
		return corev1.ResourceRequirements{}, false
	}
	return *v.Resources.DeepCopy(), true
}

// clone returns a copy that shares nothing with v.
func (v Values) clone() Values {
	if v.Replicas != nil {
		replicas := *v.Replicas
		v.Replicas = &replicas
	}
	v.Resources = v.Resources.DeepCopy()
	v.Containers = maps.Clone(v.Containers)
	for name, resources := range v.Containers {
		v.Containers[name] = *resources.DeepCopy()
	}
	return v
}

// over returns v over the values of a table: each field replaces the field of the same name, and resources are merged
// by their names. A container that only v names is merged over the resources for all.
func (v Values) over(base Values) Values {
	out := base.clone()
	if v.Replicas != nil {
		out.Replicas = v.Replicas
	}
	if v.Resources != nil {
		var below corev1.ResourceRequirements
		if base.Resources != nil {
			below = *base.Resources
		}
		merged := mergeResources(below, *v.Resources)
		out.Resources = &merged
	}
	for name, above := range v.Containers {
		below, named := base.Containers[name]
		if !named && out.Resources != nil {
			below = *out.Resources
		}
		if out.Containers == nil {
			out.Containers = map[string]corev1.ResourceRequirements{}
		}
		out.Containers[name] = mergeResources(below, above)
	}
	return out
}

func mergeResources(below, above corev1.ResourceRequirements) corev1.ResourceRequirements {
	out := *below.DeepCopy()
	out.Requests, out.Limits = mergeList(out.Requests, above.Requests), mergeList(out.Limits, above.Limits)
	return out
}

func mergeList(below, above corev1.ResourceList) corev1.ResourceList {
	if below == nil {
		return above.DeepCopy()
	}
	maps.Copy(below, above.DeepCopy())
	return below
}

// readValues reads the values of a component. A strict document has nothing else, and no null.
func readValues(f *faults, at string, content any, strict bool) (v Values) {
	fields, isMap := content.(map[string]any)
	if n, isNumber := numberOf(content); isNumber && strict {
		v.Replicas = readReplicas(f, at, n)
		return v
	}
	if !isMap || strict && len(fields) == 0 {
		f.add(at, "it has to be a map with replicas, resources or containers")
		return v
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		value, path := fields[field], at+"."+field
		switch {
		case value == nil && strict:
			f.add(path, "it is null: set it or remove it")
		case value == nil:
		case field == "replicas":
			v.Replicas = readReplicas(f, path, value)
		case field == "resources":
			resources := readResources(f, path, value, strict)
			v.Resources = &resources
		case field == "containers":
			v.Containers = readContainers(f, path, value, strict)
		case strict:
			f.add(path, "unknown key: use replicas, resources or containers")
		}
	}
	if strict {
		v.check(f, at)
	}
	return v
}

func readContainers(f *faults, at string, value any, strict bool) map[string]corev1.ResourceRequirements {
	containers, isMap := value.(map[string]any)
	if !isMap || strict && len(containers) == 0 {
		f.add(at, "it has to be a map from the names of containers to their requests and limits")
		return nil
	}
	out := map[string]corev1.ResourceRequirements{}
	for _, name := range slices.Sorted(maps.Keys(containers)) {
		if containers[name] == nil && !strict {
			continue
		}
		out[name] = readResources(f, at+"."+name, containers[name], strict)
	}
	return out
}

// readReplicas reads a number of replicas; nil if it can't be one.
func readReplicas(f *faults, at string, value any) *int32 {
	n, isNumber := numberOf(value)
	_, isText := value.(string)
	switch {
	case isText:
		f.add(at, "it is the text %q: write a number, without quotes", value)
	case !isNumber || n != math.Trunc(n):
		f.add(at, "it has to be a whole number")
	case n < 0:
		f.add(at, "it is negative: use 0 or more")
	case n > math.MaxInt32:
		f.add(at, "it is more than %d", math.MaxInt32)
	default:
		replicas := int32(n)
		return &replicas
	}
	return nil
}

// numberOf returns a value as a number.
func numberOf(value any) (float64, bool) {
	switch n := value.(type) {
	case int:
		return float64(n), true
	case int32:
		return float64(n), true
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}
