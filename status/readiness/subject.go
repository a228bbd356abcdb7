package readiness

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/internal/structs"
)

// subject is one object as the rules see it: parts of the document, without copies.
type subject struct {
	checker Checker
	now     time.Time
	// document is the object. For a typed object it lacks the parts that no rule reads.
	document map[string]any
	// whole is the struct of a typed object.
	whole      reflect.Value
	group      string
	kind       string
	versioned  bool // the group is known; it may be the core group, whose name is empty
	metadata   map[string]any
	spec       map[string]any
	status     map[string]any
	conditions []any
}

// newSubject returns the subject for an object. If the object can't be judged, it returns the result and done.
func newSubject(checker Checker, now time.Time, object any) (s subject, result Result, done bool) {
	s = subject{checker: checker, now: now}
	switch object := structs.Unwrap(object).(type) {
	case *unstructured.Unstructured:
		if object != nil {
			s.document = object.Object
		}
	case map[string]any:
		s.document = object
	case nil:
	default:
		if isTypedList(object) {
			return s, unknown(reasonList, judgeItems), true
		}
		value := reflect.ValueOf(object)
		if value.Kind() != reflect.Pointer || value.Type().Elem().Kind() != reflect.Struct {
			return s, unknown("TypeUnknown", fmt.Sprintf("a %T is no object: use *unstructured.Unstructured, map[string]any or a pointer to a struct", object)), true
		}
		if !value.IsNil() {
			s.whole = value.Elem()
			if s.document = typedDocument(s.whole); s.document == nil {
				return s, unknown("TypeUnknown", fmt.Sprintf("a %T is no object: it has neither kind nor metadata, spec or status", object)), true
			}
		}
	}
	if len(s.document) == 0 {
		return s, Result{State: NotFound, Reason: "NotFound", Message: "there is no such object"}, true
	}
	s.kind = condition.Text(s.document, "kind")
	apiVersion := condition.Text(s.document, "apiVersion")
	if group, _, found := strings.Cut(apiVersion, "/"); found {
		s.group = group
	}
	s.metadata = condition.Map(s.document, "metadata")
	s.spec = condition.Map(s.document, "spec")
	s.status = condition.Map(s.document, "status")
	s.conditions = condition.ListOf(s.status)
	s.versioned = apiVersion != ""
	if s.whole.IsValid() && (s.kind == "" || !s.versioned) {
		s.ofType(object)
	}
	if s.isList() {
		return s, unknown(reasonList, judgeItems, "kind", "items"), true
	}
	return s, Result{}, false
}

// ofType sets the group and kind of a struct that doesn't name both. It finds them by the Go type, or by
// Checker.KindOf.
func (s *subject) ofType(object any) {
	group, kind := kindOf(s.whole.Type())
	if kind == "" && s.checker.KindOf != nil {
		known := s.checker.KindOf(object)
		group, kind = known.Group, known.Kind
	}
	if kind != "" {
		s.group, s.kind, s.versioned = group, kind, true
	}
}

func (s *subject) name() Object {
	return Object{s.group, s.kind, condition.Text(s.metadata, "namespace"), condition.Text(s.metadata, "name")}
}

// generation returns metadata.generation, false when absent.
func (s *subject) generation() (int64, bool) {
	return condition.Integer(s.metadata["generation"])
}

// observedGeneration returns status.observedGeneration, false when absent.
func (s *subject) observedGeneration() (int64, bool) {
	return condition.Integer(s.status["observedGeneration"])
}

// count returns a number of the status, 0 when absent.
func (s *subject) count(field string) int64 {
	n, _ := condition.Integer(s.status[field])
	return n
}

// wanted returns a number of the spec, or the API's default when absent. If the number has the wrong type, such as a
// string, wanted returns a result and done.
func (s *subject) wanted(number string, byDefault int64) (n int64, result Result, done bool) {
	value := s.spec[number]
	if value == nil {
		return byDefault, Result{}, false
	}
	if n, ok := condition.Integer(value); ok {
		return n, Result{}, false
	}
	path := "spec." + number
	return 0, unknown("NumberUnreadable", fmt.Sprintf("%s is %.64q, not a whole number", path, fmt.Sprint(value)), path), true
}

// phase returns status.phase, empty when absent.
func (s *subject) phase() string { return condition.Text(s.status, "phase") }

// view is the part of one condition that the rules read.
type view struct {
	present bool
	// status is the status as written. fresh is the same, but Unknown if the condition is True for an older generation.
	// Rules that make an object Ready read fresh; all other rules read status.
	status, fresh   metav1.ConditionStatus
	reason, message string
	entry           map[string]any
}

// condition returns the view of the newest condition of a type. An absent condition is Unknown.
func (s *subject) condition(conditionType string) view {
	return s.view(condition.Find(s.conditions, conditionType))
}

func (s *subject) view(entry map[string]any) view {
	if entry == nil {
		return view{status: metav1.ConditionUnknown, fresh: metav1.ConditionUnknown}
	}
	v := view{
		present: true,
		status:  condition.StatusOf(entry),
		reason:  condition.Text(entry, condition.Reason),
		message: condition.Text(entry, condition.Message),
		entry:   entry,
	}
	v.fresh = v.status
	if v.status == metav1.ConditionTrue && s.outdated(entry) {
		v.fresh = metav1.ConditionUnknown
	}
	return v
}

// outdated reports whether a condition has an older generation than the object.
func (s *subject) outdated(entry map[string]any) bool {
	generation, known := s.generation()
	observed, stated := condition.Integer(entry[condition.ObservedGeneration])
	return known && stated && observed < generation
}

func (v view) isTrue() bool  { return v.status == metav1.ConditionTrue }
func (v view) isFalse() bool { return v.status == metav1.ConditionFalse }
func (v view) holds() bool   { return v.fresh == metav1.ConditionTrue }

// lasts returns how long ago the condition changed its status. If the condition has no time, it returns how long ago
// the object was created. It returns false if one of the times to compare is missing.
func (s *subject) lasts(v view) (time.Duration, bool) {
	if s.now.IsZero() {
		return 0, false
	}
	since, ok := condition.Transition(v.entry)
	if !ok {
		since, ok = condition.ParseTime(s.metadata["creationTimestamp"])
	}
	return s.now.Sub(since), ok
}

// waits returns InProgress for a condition that has to be True and isn't. The result has the condition's own reason and
// message, or the given ones if the condition has none. If the condition is True for an older generation, its reason
// and message are outdated, so waits replaces them.
func waits(conditionType string, v view, reason, message string, more ...string) Result {
	fields := append([]string{field(conditionType)}, more...)
	if v.isTrue() && !v.holds() {
		message = "the condition " + conditionType + " is True for an older generation"
		return inProgress("ConditionOutdated", message, fields...)
	}
	return inProgress(cmp.Or(v.reason, reason), cmp.Or(v.message, message), fields...)
}

// field returns the path of a condition.
func field(conditionType string) string {
	return "status.conditions[" + conditionType + "]"
}
