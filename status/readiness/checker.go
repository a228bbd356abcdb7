package readiness

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Of decides with the zero Checker and without a time: cells of the table that
// ask how long something has lasted don't match. nil, and an object without
// content, is NotFound.
//
// spec: status 23
func Of(object *unstructured.Unstructured) Result {
	return Checker{}.Of(object)
}

// Checker decides readiness with what is optional in the table. The zero value
// is the table as it stands. A Checker is a value: copy it, change it before
// use, share it between goroutines.
type Checker struct {
	// ContainerGrace is how long a container may wait for a reason such as
	// CrashLoopBackOff before its Pod is Failed, counted from the last
	// transition of the Pod's Ready condition, else from its creation. Zero:
	// not at all. More than zero needs a time (At).
	ContainerGrace time.Duration
	// SuspendedJobReady makes a suspended Job Ready.
	SuspendedJobReady bool
	// WaitsForConsumer tells of a storage class whether it binds volumes only
	// when a Pod asks for them (WaitForFirstConsumer). Then a pending claim of
	// that class is Ready. The name is empty for the default class.
	WaitsForConsumer func(storageClass string) bool
	// IngressNeedsAddress makes an Ingress wait for an address.
	IngressNeedsAddress bool
	// BudgetNeedsHealthy makes a PodDisruptionBudget wait for its Pods.
	BudgetNeedsHealthy bool
	// SetsReady names kinds that are known to set the condition Ready: without
	// one they are InProgress. It matters only for kinds without a row in the
	// table.
	SetsReady map[schema.GroupKind]bool
}

// Of decides without a time, as the function Of.
func (c Checker) Of(object *unstructured.Unstructured) Result {
	return c.At(time.Time{}, object)
}

// At decides as of a time, which also lets cells match that ask how long
// something has lasted.
func (c Checker) At(now time.Time, object *unstructured.Unstructured) Result {
	if object == nil || len(object.Object) == 0 {
		return Result{NotFound, "NotFound", "there is no such object", nil}
	}
	s := newSubject(c, now, object.Object)
	if result, done := common(&s); done {
		return result
	}
	if s.kind == "" {
		return unknown("KindMissing", "the object names no kind", "kind")
	}
	if row, known := table[key{s.group, s.kind}]; known {
		return row(s)
	}
	return generic(s)
}
