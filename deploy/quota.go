package deploy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// quotaExcess is the refusal of a creation by a ResourceQuota. It has only the amounts of the exceeded resources.
type quotaExcess struct {
	resource                 schema.GroupResource
	requested, used, limited amounts
}

// quotaText matches the API server's message. Nothing else shows that a quota is the reason of a refusal. Quotas are
// checked last, so nothing else is wrong with the object.
var quotaText = regexp.MustCompile(`exceeded quota: \S+, requested: (\S+), used: (\S+), limited: (\S+)$`)

// quotaExcessOf parses err. It returns false if err isn't a refusal by a quota.
func quotaExcessOf(err error) (quotaExcess, bool) {
	var forbidden *ForbiddenError
	if !errors.As(err, &forbidden) || forbidden.Err == nil {
		return quotaExcess{}, false
	}
	found := quotaText.FindStringSubmatch(forbidden.Err.Error())
	if found == nil {
		return quotaExcess{}, false
	}
	e := quotaExcess{resource: forbidden.Resource}
	for i, read := range []*amounts{&e.requested, &e.used, &e.limited} {
		var ok bool
		if *read, ok = quantities(found[i+1]); !ok {
			return quotaExcess{}, false
		}
	}
	return e, true
}

// quantities parses a list such as count/jobs.batch=1,requests.cpu=500m.
func quantities(text string) (amounts, bool) {
	listed := amounts{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(pair, "=")
		amount, err := resource.ParseQuantity(value)
		if !found || err != nil {
			return nil, false
		}
		listed[name] = amount
	}
	return listed, true
}

// fitsAfter reports whether the new object fits in the quota after the amounts in freed are given back.
func (e quotaExcess) fitsAfter(freed amounts) bool {
	for name, limit := range e.limited {
		rest := e.used[name].DeepCopy()
		rest.Sub(freed[name])
		rest.Add(e.requested[name])
		if rest.Cmp(limit) > 0 {
			return false
		}
	}
	return true
}

var quotaKind = schema.GroupVersionKind{Version: "v1", Kind: "ResourceQuota"}

// freesEnough reports whether the new object fits in the quotas of its namespace after live is gone. If several quotas
// are exceeded, the server's message names only one of them, and only the exceeded resources. If the new object differs
// from live in a field that quotas measure, freesEnough therefore returns true only if there is a single quota, without
// scopes.
func (t *task) freesEnough(ctx context.Context, live *unstructured.Unstructured, e quotaExcess) bool {
	traits := quotaTraits(live)
	same := sameValue(quotaTraits(t.in.object), traits) && (traits != nil || e.countsOnly())
	if same && !e.fitsAfter(e.requested) {
		return false
	}
	quotas, err := t.port.List(ctx, quotaKind, live.GetNamespace(), ListOptions{})
	switch {
	case is[*ForbiddenError](err):
		return same
	case err != nil:
		return false
	case same:
		return !slices.ContainsFunc(quotas, func(quota *unstructured.Unstructured) bool { return e.exceeds(quota, live) })
	case len(quotas) > 1 || slices.ContainsFunc(quotas, isScoped):
		return false
	case traits != nil:
		return e.fitsAfter(e.quotaAmounts(live))
	}
	// For other kinds, the cluster refuses to create an equal object, and the refusal has the amounts that live uses.
	again := live.DeepCopy()
	t.strip(again, t.in.ref)
	again.SetOwnerReferences(nil)
	freed, refused := quotaExcessOf(t.tryInPlaceOf(ctx, again, live))
	return refused && e.fitsAfter(freed.requested)
}

// countsOnly reports whether only numbers of objects are exceeded.
func (e quotaExcess) countsOnly() bool {
	for name := range e.limited {
		if !strings.HasPrefix(name, "count/") && name != e.resource.String() {
			return false
		}
	}
	return true
}

func isScoped(quota *unstructured.Unstructured) bool {
	spec, _ := quota.Object["spec"].(map[string]any)
	return spec["scopes"] != nil || spec["scopeSelector"] != nil
}

// exceeds reports whether a quota that counts live is exceeded, for example because the quota was lowered. Then the
// cluster doesn't accept an object that is equal to live.
func (e quotaExcess) exceeds(quota, live *unstructured.Unstructured) bool {
	hard, _, _ := unstructured.NestedStringMap(quota.Object, "spec", "hard")
	used, _, _ := unstructured.NestedStringMap(quota.Object, "status", "used")
	for name, text := range hard {
		limit, limitErr := resource.ParseQuantity(text)
		amount, err := resource.ParseQuantity(used[name])
		takes := name == "count/"+e.resource.String() || name == e.resource.String() ||
			quotaTraits(live) != nil && !strings.HasPrefix(name, "count/")
		if takes && limitErr == nil && err == nil && amount.Cmp(limit) > 0 {
			return true
		}
	}
	return false
}

// freedWait limits how long a cluster may take to notice that a deleted object uses no quota and no ports any more.
const freedWait = 15 * time.Second

// createInPlaceOf creates the object in place of live, which was just deleted. It retries while the cluster still
// counts live in a quota, or still reserves its ports.
func (t *task) createInPlaceOf(ctx context.Context, live *unstructured.Unstructured) Result {
	limit := freedWait
	if t.recreateWait > 0 {
		limit = min(limit, t.recreateWait)
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var result Result
	_ = waitUntil(bounded, func(context.Context) (bool, error) {
		result = t.create(ctx)
		_, refused := quotaExcessOf(result.Err)
		return !refused && len(heldByLive(result.Err, t.in.object, live)) == 0, nil
	})
	return result
}

// quotaTraits returns the fields that decide which quotas an object uses, and how much of each. It returns nil for
// kinds of which quotas only count the objects.
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

// quotaAmounts returns the amounts that an object uses at least of a quota that objects of its kind exceed.
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

// amounts are amounts of quotas, by the names that quotas have for resources.
type amounts map[string]resource.Quantity

func (a amounts) add(name, text string) {
	if amount, err := resource.ParseQuantity(text); err == nil {
		amount.Add(a[name])
		a[name] = amount
	}
}

// addResources adds the requests and limits of a container or a claim.
func (a amounts) addResources(holder map[string]any) {
	resources, _ := holder["resources"].(map[string]any)
	for _, section := range []string{"requests", "limits"} {
		values, _ := resources[section].(map[string]any)
		for name, value := range values {
			a.add(section+"."+name, fmt.Sprint(value))
			if section == "requests" { // quotas have two names for a request
				a.add(name, fmt.Sprint(value))
			}
		}
	}
}
