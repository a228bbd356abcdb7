package leader

import (
	"math"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// record is what a Lease says of its holder. What is missing or no such value is zero.
type record struct {
	holder            string
	duration          time.Duration
	acquired, renewed string
	transitions       int64
}

func recordOf(obj *unstructured.Unstructured) record {
	spec, _ := obj.Object["spec"].(map[string]any)
	var r record
	r.holder, _ = spec["holderIdentity"].(string)
	r.acquired, _ = spec["acquireTime"].(string)
	r.renewed, _ = spec["renewTime"].(string)
	r.transitions, _ = spec["leaseTransitions"].(int64)
	seconds, _ := spec["leaseDurationSeconds"].(int64)
	r.duration = time.Duration(min(seconds, math.MaxInt32)) * time.Second
	return r
}

// next is the record of another holder. The count of transitions has a limit in the API.
func (r record) next() record {
	if r.transitions >= math.MaxInt32 {
		return record{transitions: 1}
	}
	return record{transitions: r.transitions + 1}
}

// into writes the record into obj and leaves alone what else there is.
func (r record) into(obj *unstructured.Unstructured) {
	spec, _ := obj.Object["spec"].(map[string]any)
	if spec == nil {
		spec = map[string]any{}
	}
	spec["leaseDurationSeconds"] = int64(r.duration / time.Second)
	spec["leaseTransitions"] = r.transitions
	spec["renewTime"] = r.renewed
	setText(spec, "acquireTime", r.acquired)
	setText(spec, "holderIdentity", r.holder)
	obj.Object["spec"] = spec
}

func setText(spec map[string]any, field, value string) {
	if value == "" {
		delete(spec, field)
		return
	}
	spec[field] = value
}

// microTime is a time as a Lease holds it.
func microTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }
