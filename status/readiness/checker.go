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

// Of decides with the zero Checker and without a time: cells of the table that ask how long something has lasted don't
// match. The object is one of:
//
//   - *unstructured.Unstructured, also embedded in a struct that is pointed to, or map[string]any holding a whole object:
//     read in place, nothing is copied;
//   - a pointer to a struct, such as those of k8s.io/api, which is read by reflection. Objects that a client has decoded
//     often name no kind; then the type's name and package do, for the kinds of the table, and Checker.KindOf for all
//     others.
//
// nil, a nil pointer, and an object without content, is NotFound. Another type, and an object that doesn't name both
// kind and apiVersion, is Unknown, and so is a list (such as a List or a PodList, also one of a Go type): judge its
// items. Nothing is changed.
func Of(object any) Result {
	return Checker{}.Of(object)
}

// Checker decides readiness with the options of the table. The zero value is the table as it stands. A Checker is a
// value: copy it, change it before use, share it between goroutines.
type Checker struct {
	// ContainerGrace is how long a container may wait for a reason such as
	// CrashLoopBackOff before its Pod is Failed, counted from the last
	// transition of the Pod's Ready condition, else from its creation. Zero:
	// not at all. More than zero needs a time (At).
	ContainerGrace time.Duration
	// SuspendedJobReady makes a suspended Job Ready.
	SuspendedJobReady bool
	// WaitsForConsumer reports whether a storage class binds volumes only when a
	// Pod uses them (WaitForFirstConsumer). Then a pending claim of that class is
	// Ready, unless the claim names its volume. The name is empty for the default
	// class. It isn't called for a claim that states the empty class. nil: no
	// class does.
	WaitsForConsumer func(storageClass string) bool
	// IngressNeedsAddress makes an Ingress wait for an address.
	IngressNeedsAddress bool
	// BudgetNeedsHealthy makes a PodDisruptionBudget wait for its Pods.
	BudgetNeedsHealthy bool
	// KindOf names the kind of a struct that names none, as a client decodes it, and that the table doesn't know by its
	// Go type: from the client's scheme, for instance. The zero GroupKind is none.
	KindOf func(object any) schema.GroupKind
	// Registry overrides the table, and adds kinds that it doesn't have. The Checker doesn't change it.
	Registry Registry
}

// Over returns c with base under it: fields that c leaves at zero, and kinds that its Registry doesn't hold, are
// base's. Neither is changed.
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

// Of decides without a time, as the function Of.
func (c Checker) Of(object any) Result {
	return c.At(time.Time{}, object)
}

// At decides as of a time, which also lets cells match that ask how long something has lasted.
//
// Checks that all kinds share come first. Then the first of these decides: a function, a condition or fields that the
// Registry holds for the kind; the row of the table; a subsystem of the Registry; the conditions that any kind may set;
// presence.
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
		return unknown("APIVersionMissing", "the object names no apiVersion, so that its kind may be one of any group", "apiVersion")
	}
	var expected Expectation
	if len(s.checker.Registry) > 0 {
		expected = s.checker.Registry[schema.GroupKind{Group: s.group, Kind: s.kind}]
	}
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
	judgeItems = "a list isn't ready or not: judge its items, and put the results together with All"
)

// isList reports whether the object is a list of objects. There are kinds of
// objects whose name ends in List as well, but those have a name of their own
// and no items beside their spec.
func (s *subject) isList() bool {
	if !strings.HasSuffix(s.kind, "List") {
		return false
	}
	_, items := s.document["items"].([]any)
	return items || condition.Text(s.metadata, "name") == ""
}

// isTypedList reports whether an object is a list of a Go type, such as corev1.PodList.
func isTypedList(object any) bool {
	if _, ok := object.(metav1.ListInterface); !ok {
		return false
	}
	value := reflect.ValueOf(object)
	return value.Kind() == reflect.Pointer && !value.IsNil() && structs.Index(value.Type().Elem(), "items") != nil
}
