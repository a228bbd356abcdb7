package readiness

import (
	"cmp"
	"maps"
	"reflect"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/internal/structs"
)

// Of returns the readiness of an object. It uses the zero Checker and no time, so rules about a duration don't apply.
// The object is one of:
//
//   - *unstructured.Unstructured, a pointer to a struct that embeds it, or a map[string]any that holds a whole object.
//     It is read in place, without a copy.
//   - a pointer to a struct, such as those of k8s.io/api. It is read by reflection. Objects that a client has decoded
//     often name no kind. If their Go type has a row in the table, its name and package give the kind. Otherwise
//     Checker.KindOf returns the kind.
//
// nil, a nil pointer and an object without content are NotFound. An object of another type, or without a known kind and
// apiVersion, is Unknown. A list is Unknown too, such as a List or a PodList, unstructured or typed: judge its items.
// Of changes nothing.
func Of(object any) Result {
	return Checker{}.Of(object)
}

// Checker decides readiness, with options for the rules of the table. The zero value uses the table without options. A
// Checker is a value: copies are independent, and goroutines may share one that nobody changes.
type Checker struct {
	// ContainerGrace is how long a container may wait with a reason such as CrashLoopBackOff before its Pod is Failed.
	// The time is counted from the last transition of the Pod's condition Ready, or from the creation of the Pod. With
	// zero, the Pod is Failed at once. A duration needs a time (At): without one, the Pod isn't Failed for this reason.
	ContainerGrace time.Duration
	// SuspendedJobReady makes a suspended Job Ready.
	SuspendedJobReady bool
	// WaitsForConsumer reports whether a storage class binds volumes only when a Pod uses them (WaitForFirstConsumer).
	// A pending claim of such a class is Ready, unless the claim names its volume. storageClass is empty for the
	// default class. The function isn't called for a claim that has the empty class. nil means that no class waits for
	// a consumer.
	WaitsForConsumer func(storageClass string) bool
	// IngressNeedsAddress makes an Ingress wait for an address.
	IngressNeedsAddress bool
	// BudgetNeedsHealthy makes a PodDisruptionBudget wait for its Pods.
	BudgetNeedsHealthy bool
	// KindOf returns the kind of a struct that doesn't name its kind and whose Go type has no row in the table. It may
	// use the client's scheme, for example. It returns the zero GroupKind if it doesn't know the kind. If KindOf is
	// nil, the kind of such a struct is unknown.
	KindOf func(object any) schema.GroupKind
	// Registry overrides rows of the table, and adds kinds to it. The Checker doesn't change the Registry.
	Registry Registry
}

// Over returns c with base as the default: a field that is zero in c, or a kind that c's Registry doesn't have, is
// taken from base. Neither is changed.
func (c Checker) Over(base Checker) Checker {
	c.ContainerGrace = cmp.Or(c.ContainerGrace, base.ContainerGrace)
	c.SuspendedJobReady = c.SuspendedJobReady || base.SuspendedJobReady
	c.IngressNeedsAddress = c.IngressNeedsAddress || base.IngressNeedsAddress
	c.BudgetNeedsHealthy = c.BudgetNeedsHealthy || base.BudgetNeedsHealthy
	if c.WaitsForConsumer == nil {
		c.WaitsForConsumer = base.WaitsForConsumer
	}
	if c.KindOf == nil {
		c.KindOf = base.KindOf
	}
	switch {
	case len(c.Registry) == 0:
		c.Registry = base.Registry
	case len(base.Registry) > 0:
		registry := maps.Clone(base.Registry)
		maps.Copy(registry, c.Registry)
		c.Registry = registry
	}
	return c
}

// Of returns the readiness of an object without a time, like the function Of.
func (c Checker) Of(object any) Result {
	return c.At(time.Time{}, object)
}

// At returns the readiness of an object at the time now, so that rules about a duration apply too.
//
// The checks for all kinds come first. Then the first of these decides: a function, a condition or fields in the
// Registry for the kind; the row of the table; a subsystem in the Registry; the conditions that any kind may set. An
// object with none of them is Ready because it is present.
func (c Checker) At(now time.Time, object any) Result {
	s, result, done := newSubject(c, now, object)
	if !done {
		result = s.judge()
	}
	result.Object = s.name()
	return result
}

func (s *subject) judge() Result {
	if result, done := common(s); done {
		return result
	}
	if s.kind == "" {
		return unknown("KindMissing", "the object names no kind", "kind")
	}
	if !s.versioned {
		return unknown("APIVersionMissing", "the object names no apiVersion, so the group of its kind isn't known", "apiVersion")
	}
	var expected Expectation
	if len(s.checker.Registry) > 0 {
		expected = s.checker.Registry[schema.GroupKind{Group: s.group, Kind: s.kind}]
	}
	return expected.and(s, s.by(expected))
}

// by judges the object by what its kind expects.
func (s *subject) by(expected Expectation) Result {
	if result, done := expected.before(s); done {
		return result
	}
	if row, known := table[key{s.group, s.kind}]; known {
		if row == nil {
			return present()
		}
		return row(*s)
	}
	if expected.Subsystem != nil {
		return subsystem(s, *expected.Subsystem)
	}
	return generic(*s, expected.SetsReady)
}

const (
	reasonList = "IsAList"
	judgeItems = "a list has no readiness of its own: judge its items, and combine the results with All"
)

// isList reports whether the object is a list of objects. The names of some other kinds end in List too, but such an
// object has a metadata.name and no top-level items.
func (s *subject) isList() bool {
	if !strings.HasSuffix(s.kind, "List") {
		return false
	}
	_, items := s.document["items"].([]any)
	return items || condition.Text(s.metadata, "name") == ""
}

// isTypedList reports whether an object is a typed list, such as a *corev1.PodList.
func isTypedList(object any) bool {
	if _, ok := object.(metav1.ListInterface); !ok {
		return false
	}
	value := reflect.ValueOf(object)
	return value.Kind() == reflect.Pointer && !value.IsNil() && structs.Index(value.Type().Elem(), "items") != nil
}
