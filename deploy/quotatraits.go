package deploy

import (
	"cmp"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// quotaTraits are the fields on which it depends how much of quotas an object takes, and of which; nil for objects of
// which only the number counts.
func quotaTraits(obj *unstructured.Unstructured) []any {
	spec, _ := obj.Object["spec"].(map[string]any)
	if obj.GroupVersionKind().Group != "" {
		return nil
	}
	switch obj.GetKind() {
	case "Service":
		return []any{cmp.Or(spec["type"], any("ClusterIP")), len(mapsOf(spec["ports"])), spec["allocateLoadBalancerNodePorts"] != any(false)}
	case "PersistentVolumeClaim":
		return []any{spec["resources"], spec["storageClassName"], spec["volumeAttributesClassName"]}
	case "Pod":
		traits := []any{spec["resources"], spec["overhead"], spec["priorityClassName"], spec["activeDeadlineSeconds"], spec["affinity"]}
		for _, list := range []string{"initContainers", "containers"} {
			for _, container := range mapsOf(spec[list]) {
				traits = append(traits, list, container["resources"], container["restartPolicy"])
			}
		}
		return traits
	}
	return nil
}

// quotaAmounts is what an object takes at least of a quota that is exceeded by objects of its kind.
func (e quotaExcess) quotaAmounts(obj *unstructured.Unstructured) amounts {
	taken := amounts{}
	one := e.resource.String()
	taken.add(one, "1")
	taken.add("count/"+one, "1")
	spec, _ := obj.Object["spec"].(map[string]any)
	switch {
	case one == "services":
		ports := strconv.Itoa(len(mapsOf(spec["ports"])))
		balanced := spec["type"] == "LoadBalancer"
		if balanced {
			taken.add("services.loadbalancers", "1")
		}
		if spec["type"] == "NodePort" || balanced && spec["allocateLoadBalancerNodePorts"] != any(false) {
			taken.add("services.nodeports", ports)
		}
	case one == "persistentvolumeclaims":
		taken.addResources(spec)
	case one == "pods":
		for _, container := range mapsOf(spec["containers"]) {
			taken.addResources(container)
		}
	}
	return taken
}

// amounts are what is taken of quotas, by the names that quotas have for it.
type amounts map[string]resource.Quantity

func (a amounts) add(name, text string) {
	if amount, err := resource.ParseQuantity(text); err == nil {
		amount.Add(a[name])
		a[name] = amount
	}
}

// addResources adds what a container or a claim requests and is limited to.
func (a amounts) addResources(holder map[string]any) {
	resources, _ := holder["resources"].(map[string]any)
	for _, section := range []string{"requests", "limits"} {
		values, _ := resources[section].(map[string]any)
		for name, value := range values {
			a.add(section+"."+name, fmt.Sprint(value))
			if section == "requests" { // quotas have two names for it
				a.add(name, fmt.Sprint(value))
			}
		}
	}
}

// mapsOf returns the items of a list that are maps.
func mapsOf(value any) []map[string]any {
	list, _ := value.([]any)
	items := make([]map[string]any, 0, len(list))
	for _, item := range list {
		if fields, isMap := item.(map[string]any); isMap {
			items = append(items, fields)
		}
	}
	return items
}
