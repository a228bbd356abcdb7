package size

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// readResources reads requests and limits.
func readResources(f *faults, at string, value any, strict bool) (r corev1.ResourceRequirements) {
	fields, isMap := value.(map[string]any)
	if !isMap || strict && len(fields) == 0 {
		f.add(at, "it has to be a map with requests and limits")
		return r
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		path := at + "." + field
		switch {
		case fields[field] == nil && !strict:
		case field == "requests":
			r.Requests = readList(f, path, fields[field], strict)
		case field == "limits":
			r.Limits = readList(f, path, fields[field], strict)
		default:
			f.add(path, "unknown key: use requests or limits")
		}
	}
	return r
}

func readList(f *faults, at string, value any, strict bool) corev1.ResourceList {
	fields, isMap := value.(map[string]any)
	if !isMap || strict && len(fields) == 0 {
		f.add(at, "it has to be a map from resources to quantities, such as cpu: 100m")
		return nil
	}
	list := corev1.ResourceList{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		path := at + "." + name
		if fields[name] == nil && !strict {
			continue
		}
		if !isResource(name) {
			f.add(path, "unknown resource: use cpu, memory, ephemeral-storage, or a name with a domain")
			continue
		}
		if quantity, ok := readQuantity(f, path, fields[name]); ok {
			list[corev1.ResourceName(name)] = quantity
		}
	}
	return list
}

// isResource reports whether containers can have a resource.
func isResource(name string) bool {
	switch corev1.ResourceName(name) {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return true
	}
	domain, rest, extended := strings.Cut(name, "/")
	return strings.HasPrefix(name, corev1.ResourceHugePagesPrefix) || extended && domain != "" && rest != ""
}

// readQuantity reads a quantity. The second result is false if the value can't be one.
func readQuantity(f *faults, at string, value any) (resource.Quantity, bool) {
	text, isText := value.(string)
	if n, isNumber := numberOf(value); isNumber {
		text, isText = strconv.FormatFloat(n, 'f', -1, 64), true
	}
	quantity, err := resource.ParseQuantity(text)
	switch {
	case !isText || err != nil:
		f.add(at, "it isn't a quantity such as 100m or 1Gi")
		return quantity, false
	case quantity.Sign() < 0:
		f.add(at, "it is negative: use 0 or more")
		return quantity, false
	}
	return quantity, true
}

// check finds values that the cluster would refuse together.
func (v Values) check(f *faults, at string) {
	if v.Resources != nil {
		checkResources(f, at+".resources", *v.Resources)
	}
	for _, name := range slices.Sorted(maps.Keys(v.Containers)) {
		checkResources(f, at+".containers."+name, v.Containers[name])
	}
}

func checkResources(f *faults, at string, r corev1.ResourceRequirements) {
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		request := r.Requests[name]
		limit, limited := r.Limits[name]
		path := at + ".requests." + string(name)
		switch {
		case limited && request.Cmp(limit) > 0:
			f.add(path, "%s is above the limit %s", request.String(), limit.String())
		case isWhole(name) && (!limited || request.Cmp(limit) != 0):
			f.add(path, "it needs a limit of the same quantity")
		}
	}
	checkUnits(f, at+".requests.", r.Requests)
	checkUnits(f, at+".limits.", r.Limits)
}

// checkUnits finds parts of what is counted in whole units or bytes.
func checkUnits(f *faults, at string, list corev1.ResourceList) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		quantity := list[name]
		switch {
		case quantity.Cmp(*resource.NewQuantity(quantity.Value(), quantity.Format)) == 0:
		case isWhole(name):
			f.add(at+string(name), "it has to be a whole number")
		case name != corev1.ResourceCPU:
			f.add(at+string(name), "%s has a part of a byte: use a unit such as Mi or M", quantity.String())
		}
	}
}

// isWhole reports whether containers have whole units of a resource for themselves, such as GPUs and huge pages.
func isWhole(name corev1.ResourceName) bool {
	return strings.Contains(string(name), "/") || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}
