package readiness

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/status/internal/condition"
)

// Registry maps kinds to the way in which their objects are judged. Don't write to a Registry after you have given it
// to a Checker (With returns a changed copy). Any number of goroutines may read it. nil is an empty Registry.
type Registry map[schema.GroupKind]Expectation

// With returns a copy of the Registry with the expectation for one kind. The Registry itself isn't changed.
func (r Registry) With(kind schema.GroupKind, expected Expectation) Registry {
	result := make(Registry, len(r)+1)
	maps.Copy(result, r)
	result[kind] = expected
	return result
}

// Expectation describes how the objects of one kind are judged. If Func is set, it decides alone. Otherwise Condition
// and Fields decide, and both have to be met. If none of these is set, the table decides, then Subsystem, then
// SetsReady and the generic conditions. And has the last word. The zero value changes nothing.
//
// In every case, an object isn't ready if it is being deleted, if its generation isn't observed, or if it is Stalled or
// Reconciling.
type Expectation struct {
	// Func judges an object. It must not change the document. now is zero if no time is known. A Result without a State
	// becomes Unknown.
	Func func(now time.Time, object map[string]any) Result
	// And judges an object that everything else finds Ready: its Result replaces the other one unless it is Ready, too.
	// The rules are the same as for Func.
	And func(now time.Time, object map[string]any) Result
	// Condition is the condition that the object must have to be ready.
	Condition *Condition
	// Fields are the fields that must have certain values for the object to be ready.
	Fields []Field
	// Subsystem is for custom resources whose operators write the status as status.Application does. It has no effect
	// on kinds with a row in the table.
	Subsystem *Subsystem
	// SetsReady declares that the controller of the kind sets the condition Ready: an object without it is InProgress.
	// It has no effect on kinds with a row in the table.
	SetsReady bool
}

// Condition is an expected condition. If the type has several entries, the newest decides.
type Condition struct {
	// Type is the condition's type.
	Type string
	// Status is the expected status. An empty Status means True.
	Status string
	// FailedReasons are reasons that make the object Failed, whatever the status is.
	FailedReasons []string
	// TimeKey is the field with the time of an entry. An empty TimeKey means lastTransitionTime.
	TimeKey string
}

// Field is an expected field. Numbers, strings and booleans are compared by value, whatever their Go type. Other values
// must be equal in type and content.
type Field struct {
	// Path is the path of the field, with dots between names: .status.phase
	Path string
	// Ready are the values of a ready object. If Ready is empty, every value is allowed.
	Ready []any
	// Failed are the values that make the object Failed.
	Failed []any
}

// Subsystem is an expected application status: Ready is True, Updating is
// False, and the reconciled version is the desired one.
type Subsystem struct {
	// Version is the desired version. If it is empty, spec.version of the resource is used. If both are empty, the
	// version isn't checked.
	Version string
}

// ErrExpectation means that an expectation is invalid.
var ErrExpectation = errors.New("invalid expectation")

// Validate returns an error for each invalid expectation: a condition without a type or with an unknown status, or a
// field with an invalid path. The error wraps ErrExpectation. Objects of a kind with an invalid expectation are
// Unknown.
func (r Registry) Validate() error {
	kinds := slices.SortedFunc(maps.Keys(r), func(a, b schema.GroupKind) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Kind, b.Kind))
	})
	var faults []error
	for _, kind := range kinds {
		if err := r[kind].validate(); err != nil {
			faults = append(faults, fmt.Errorf("kind %s: %w", kind, err))
		}
	}
	return errors.Join(faults...)
}

func (e Expectation) validate() error {
	if c := e.Condition; c != nil {
		switch {
		case c.Type == "":
			return fmt.Errorf("%w: the condition has no type", ErrExpectation)
		case c.Status != "" && c.Status != "True" && c.Status != "False" && c.Status != "Unknown":
			return fmt.Errorf("%w: condition %s: status %.64q: use True, False or Unknown", ErrExpectation, c.Type, c.Status)
		}
	}
	for _, f := range e.Fields {
		for segment := range strings.SplitSeq(strings.TrimPrefix(f.Path, "."), ".") {
			if segment == "" {
				return fmt.Errorf("%w: path %.64q: use names with dots between them, as in .status.phase", ErrExpectation, f.Path)
			}
		}
	}
	return nil
}

// before judges by Func, or by Condition and Fields, which come before the table. It returns false if none of them is
// set.
func (e Expectation) before(s *subject) (Result, bool) {
	if e.Func == nil && e.Condition == nil && len(e.Fields) == 0 {
		return Result{}, false
	}
	if err := e.validate(); err != nil {
		return unknown("ExpectationInvalid", err.Error()), true
	}
	if e.Func != nil {
		return called(e.Func, s), true
	}
	return e.expect(s), true
}

// called returns the result of a function of an Expectation.
func called(judge func(now time.Time, object map[string]any) Result, s *subject) Result {
	result := judge(s.now, s.everything())
	if result.State == "" {
		return unknown("NoAnswer", "the function for the kind returned no state")
	}
	return result
}

// and returns result, or what And says about an object that is Ready by result.
func (e Expectation) and(s *subject, result Result) Result {
	if e.And == nil || !result.Ready() {
		return result
	}
	if last := called(e.And, s); !last.Ready() {
		return last
	}
	return result
}

// expect returns the worst result of the condition and the fields, the first of equally bad ones.
func (e Expectation) expect(s *subject) Result {
	var results []Result
	if e.Condition != nil {
		results = append(results, e.Condition.judge(s))
	}
	if len(e.Fields) > 0 {
		object := s.everything()
		for _, field := range e.Fields {
			results = append(results, field.judge(object))
		}
	}
	return slices.MinFunc(results, func(a, b Result) int { return a.State.rank() - b.State.rank() })
}

func (c Condition) judge(s *subject) Result {
	v := s.view(condition.FindBy(s.conditions, c.Type, c.TimeKey))
	want := condition.ParseStatus(cmp.Or(c.Status, "True"))
	switch {
	case v.present && slices.Contains(c.FailedReasons, v.reason):
		return failed(v.reason, cmp.Or(v.message, "the condition "+c.Type+" has failed"), field(c.Type))
	case v.present && v.status == want && s.outdated(v.entry):
		return inProgress("ConditionOutdated", "the condition "+c.Type+" is "+string(want)+" for an older generation", field(c.Type))
	case v.present && v.status == want:
		return ready(cmp.Or(v.reason, c.Type), cmp.Or(v.message, "the condition "+c.Type+" is "+string(want)), field(c.Type))
	}
	return inProgress(cmp.Or(v.reason, "Not"+c.Type), cmp.Or(v.message, "the condition "+c.Type+" is not "+string(want)), field(c.Type))
}

func (f Field) judge(object map[string]any) Result {
	path := strings.TrimPrefix(f.Path, ".")
	value, found := lookUp(object, path)
	switch {
	case found && contains(f.Failed, value):
		return failed("FieldFailed", fmt.Sprintf("%s is %.64q", path, fmt.Sprint(value)), path)
	case found && (len(f.Ready) == 0 || contains(f.Ready, value)):
		return ready("FieldMatches", fmt.Sprintf("%s is %.64q", path, fmt.Sprint(value)), path)
	case !found:
		return inProgress("FieldMissing", path+" isn't there yet", path)
	}
	return inProgress("FieldDiffers", fmt.Sprintf("%s is %.64q", path, fmt.Sprint(value)), path)
}

// lookUp follows a path; null counts as missing.
func lookUp(object map[string]any, path string) (any, bool) {
	var value any = object
	for segment := range strings.SplitSeq(path, ".") {
		parent, _ := value.(map[string]any)
		value = parent[segment]
	}
	return value, value != nil
}

func contains(values []any, value any) bool {
	return slices.ContainsFunc(values, func(each any) bool {
		a, isA := number(plain(each))
		b, isB := number(value)
		if isA || isB {
			return isA && isB && a == b
		}
		return reflect.DeepEqual(plain(each), value)
	})
}

// plain converts a value of a named type, such as a PodPhase, to the type that a document has.
func plain(value any) any {
	if _, isNumber := value.(json.Number); isNumber {
		return value
	}
	switch content := reflect.ValueOf(value); content.Kind() {
	case reflect.String:
		return content.String()
	case reflect.Bool:
		return content.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return content.Int()
	case reflect.Float32, reflect.Float64:
		return content.Float()
	}
	return value
}

func number(value any) (float64, bool) {
	if f, ok := value.(float64); ok {
		return f, true
	}
	n, ok := condition.Integer(value)
	return float64(n), ok
}

// subsystem judges the status of a status.Application. It never returns Failed: a failed application is Stalled, which
// common has checked already.
func subsystem(s *subject, want Subsystem) Result {
	isReady, updating := s.condition("Ready"), s.condition("Updating")
	if !isReady.holds() {
		result := waits("Ready", isReady, "NotReady", "the condition Ready is not True")
		if updating.isTrue() {
			result = result.with(updating.message, field("Updating"))
		}
		return result
	}
	if !updating.isFalse() {
		return inProgress(cmp.Or(updating.reason, "Updating"), cmp.Or(updating.message, "the condition Updating is not False"), field("Updating"))
	}
	if result, done := s.upgrading(cmp.Or(want.Version, condition.Text(s.spec, "version"))); done {
		return result
	}
	return ready(cmp.Or(isReady.reason, "Ready"), cmp.Or(isReady.message, "the subsystem is ready"), field("Ready"), field("Updating"))
}

// upgrading returns InProgress if the reconciled version of an application isn't the desired one. Every version matches
// an empty desired version. The condition Ready may still be True for the previous version.
func (s *subject) upgrading(desired string) (Result, bool) {
	version := condition.Text(condition.Map(s.status, "versions"), "reconciled")
	if desired == "" || version == desired {
		return Result{}, false
	}
	return inProgress("VersionDiffers", fmt.Sprintf("version %q is reconciled, %q is desired", version, desired),
		"status.versions.reconciled", "spec.version"), true
}
