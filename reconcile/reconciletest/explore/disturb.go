package explore

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// at returns the disturbances of the nth chapter with one of these acts.
func (x *execution) at(n int, acts ...act) []armed {
	return slices.DeleteFunc(slices.Clone(x.disturbances), func(a armed) bool { return a.chapter != n || !slices.Contains(acts, a.act) })
}

// misses reports whether the operator misses the nth chapter: the next one begins before it sees anything.
func (x *execution) misses(n int) bool {
	if len(x.at(n, miss)) == 0 {
		return false
	}
	x.hurry(n)
	x.h.CatchUp()
	return x.begun
}

// disturb prepares what happens at requests of the nth chapter. The requests of the test itself aren't disturbed.
func (x *execution) disturb(n int) {
	for _, a := range x.disturbances {
		switch {
		case a.chapter != n || a.place() != atRequest:
		case a.act == killBefore || a.act == killAfter:
			x.h.Kill(a.write, a.act == killAfter)
		case a.act == depose:
			x.h.Depose(a.write)
		case a.act == hurry:
			x.h.BeforeRequest(a.request, func() { x.hurry(n) })
		case a.lags():
			x.h.BeforeRequest(a.request, func() { x.lag(n, a.act) })
		case a.act == snatch:
			x.h.BeforeRequest(a.request, func() { _ = x.h.TryDelete(a.object) }) // it may be gone already
		default:
			x.h.FailRequest(a.request, faults[a.act])
		}
	}
}

// meddle deletes and changes children at the end of the nth chapter. An error means that another disturbance has
// changed what there is, or that the cluster refuses it. An operator that doesn't watch a child has time to look after
// it.
func (x *execution) meddle(n int) {
	for _, a := range x.at(n, take, drift) {
		before := stateOf(x.objects(x.h))
		var err error
		if a.act == take {
			err = x.h.TryDelete(a.object)
		} else {
			err = x.h.TryEdit(a.object, tamper)
		}
		if err == nil {
			x.h.RunUntilSettled()
		}
		if len(compare(before, stateOf(x.objects(x.h)))) > 0 {
			x.h.Advance(time.Hour)
		}
	}
}

// end does what happens after the nth chapter, when its end has been recorded.
func (x *execution) end(n int) {
	now := &x.chapters[n-1]
	x.ending = true
	defer func() { x.ending = false }()
	for range x.at(n, restart) {
		x.h.Advance(time.Minute)
		x.h.Restart()
		x.h.RunUntilSettled()
		sent := x.options.judgedCalls(writes(x.h.Calls()))
		now.anew = slices.DeleteFunc(sent, func(call reconciletest.Call) bool { return call.Action == deploy.Unchanged })
		objects := x.objects(x.h)
		x.witness.rest(now, x.h.Calls(), objects)
		now.errs = lastErrors(x.h, stateOf(objects))
	}
	for _, a := range x.at(n, hide) {
		kind, _, _ := strings.Cut(a.object, " ")
		kind, _, _ = strings.Cut(kind, ".")
		x.h.Stall(kind)
		_ = x.h.TryDelete(a.object) // another disturbance may have deleted it
		x.behind = true
	}
}

// tamper changes the first field, in the order of the paths, that the operator has set.
func tamper(obj *unstructured.Unstructured) {
	for _, entry := range obj.GetManagedFields() {
		if entry.Subresource != "" || strings.HasPrefix(entry.Manager, reconciletest.FieldManager) || entry.FieldsV1 == nil {
			continue
		}
		fields := &unstructured.Unstructured{}
		if err := fields.UnmarshalJSON([]byte(`{"kind":"Fields","fields":` + entry.FieldsV1.GetRawString() + `}`)); err != nil {
			continue
		}
		owned, _, _ := unstructured.NestedMap(fields.Object, "fields")
		for _, section := range []string{"f:spec", "f:data", "f:rules", "f:subjects"} {
			below, _ := owned[section].(map[string]any)
			if below != nil && tamperBelow(obj.GetKind() == "Secret", obj.Object, strings.TrimPrefix(section, "f:"), below) {
				return
			}
		}
	}
}

// unpadded is base64 that can stand before other base64.
const unpadded = "eHh4"

// tamperBelow changes the first scalar below a field, and reports whether there is any. owned are the fields below it
// that the operator has set, as in managedFields. encoded means that texts are base64.
func tamperBelow(encoded bool, in map[string]any, field string, owned map[string]any) bool {
	switch value := in[field].(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(owned)) {
			below, _ := owned[key].(map[string]any)
			if name, named := strings.CutPrefix(key, "f:"); named && tamperBelow(encoded, value, name, below) {
				return true
			}
		}
	case string:
		if in[field] = value + "x"; encoded {
			in[field] = unpadded + value
		}
		return true
	case int64:
		in[field] = value + 1
		return true
	case bool:
		in[field] = !value
		return true
	}
	return false
}
