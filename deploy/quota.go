package deploy

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// quotaExcess is the refusal of a creation by a ResourceQuota. The amounts are those of the resources that don't suffice.
type quotaExcess struct {
	quota                    string
	requested, used, limited map[string]resource.Quantity
}

// quotaText is how the API server says it. There is no other sign of it in the answer. Quotas are checked last, so the
// object is acceptable in every other way.
var quotaText = regexp.MustCompile(`exceeded quota: (\S+), requested: (\S+), used: (\S+), limited: (\S+)$`)

// quotaExcessOf reads what a quota says in err; false if err isn't the refusal of a quota.
func quotaExcessOf(err error) (quotaExcess, bool) {
	var forbidden *ForbiddenError
	if !errors.As(err, &forbidden) || forbidden.Err == nil {
		return quotaExcess{}, false
	}
	found := quotaText.FindStringSubmatch(forbidden.Err.Error())
	if found == nil {
		return quotaExcess{}, false
	}
	e := quotaExcess{quota: found[1]}
	for i, amounts := range []*map[string]resource.Quantity{&e.requested, &e.used, &e.limited} {
		var ok bool
		if *amounts, ok = quantities(found[i+2]); !ok {
			return quotaExcess{}, false
		}
	}
	return e, true
}

// quantities reads a list such as count/jobs.batch=1,requests.cpu=500m.
func quantities(text string) (map[string]resource.Quantity, bool) {
	amounts := map[string]resource.Quantity{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(pair, "=")
		amount, err := resource.ParseQuantity(value)
		if !found || err != nil {
			return nil, false
		}
		amounts[name] = amount
	}
	return amounts, true
}

// fitsAfter reports whether the new object fits in the quota once as much as freed is given back.
func (e quotaExcess) fitsAfter(freed map[string]resource.Quantity) bool {
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

// countedKinds are the resources of a quota, beside count/..., that count objects.
var countedKinds = []string{"configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas", "secrets", "services"}

// countsOnly reports whether nothing but numbers of objects is exceeded.
func (e quotaExcess) countsOnly() bool {
	for name := range e.limited {
		if !strings.HasPrefix(name, "count/") && !slices.Contains(countedKinds, name) {
			return false
		}
	}
	return true
}

// freesEnough reports whether the deletion of live leaves so much of a quota that the new object fits in. Of objects, live
// is one. Of anything else it has what the creation of an equal object is refused for.
func (t *task) freesEnough(ctx context.Context, live *unstructured.Unstructured, e quotaExcess) bool {
	if e.countsOnly() {
		return e.fitsAfter(e.requested)
	}
	again := live.DeepCopy()
	t.strip(again, t.in.ref)
	again.SetOwnerReferences(nil)
	freed, refused := quotaExcessOf(t.tryInPlaceOf(ctx, again, live))
	return refused && freed.quota == e.quota && e.fitsAfter(freed.requested)
}

// quotaWait bounds how long a quota may take to notice a deletion.
const quotaWait = 15 * time.Second

// createWithinQuota creates the object in the place of one that was just deleted. The quota controller counts that a moment
// later, until then the creation is refused.
func (t *task) createWithinQuota(ctx context.Context) Result {
	limit := quotaWait
	if t.recreateWait > 0 {
		limit = min(limit, t.recreateWait)
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var result Result
	_ = waitUntil(bounded, func(context.Context) (bool, error) {
		result = t.create(ctx)
		_, refused := quotaExcessOf(result.Err)
		return !refused, nil
	})
	return result
}
