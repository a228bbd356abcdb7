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

// Registry holds how kinds are judged. It is a value: make one, give it to a Checker, and don't write to it afterwards
// (With makes another one); then any number of goroutines may use it. nil is empty.
type Registry map[schema.GroupKind]Expectation

// With returns a copy of the Registry with the expectation for one kind. The Registry itself isn't changed.
func (r Registry) With(kind schema.GroupKind, expected Expectation) Registry {
	result := make(Registry, len(r)+1)
	maps.Copy(result, r)
	result[kind] = expected
	return result
}

// Expectation is how the objects of one kind are judged. With the zero value the table and the generic conditions
// decide. The first field that is set decides, in their order. Condition and Fields decide together: both have to be
// met.
//
// Whatever is given, an object that is being deleted, whose generation isn't observed, or that is Stalled or
// Reconciling isn't ready.
type Expectation struct {
	// Func judges an object, given as a document that it must not change. now is zero when no time is known. A Result
	// without a State is Unknown.
	Func func(now time.Time, object map[string]any) Result
	// Condition is a condition that makes the object ready.
	Condition *Condition
	// Fields are fields that make the object ready.
	Fields []Field
	// Subsystem is for custom resources of operators that write their status as
	// status.Application does. It matters for kinds without a row in the table.
	Subsystem *Subsystem
	// SetsReady declares that the controller of the kind sets the condition
	// Ready: as long as it is missing, the object is InProgress. It matters for
	// kinds without a row in the table.
	SetsReady bool
}

// Condition is an expected condition. Of several entries of its type the newest
// decides.
type Condition struct {
	// Type is the condition's type.
	Type string
	// Status is what it has to be; empty is True.
	Status string
	// FailedReasons are the reasons with which the object has Failed, whatever the status is.
	FailedReasons []string
	// TimeKey is the field that dates an entry; empty is lastTransitionTime.
	TimeKey string
}

// Field is an expected field. Numbers are compared as numbers, everything else
// as it is.
type Field struct {
	// Path leads to it, with dots: .status.phase
	Path string
	// Ready are the values that make the object ready; empty is every value.
	Ready []any
	// Failed are the values with which the object has Failed.
	Failed []any
}

// Subsystem is an expected application status: Ready is True, Updating is
// False, and the reconciled version is the desired one.
type Subsystem struct {
	// Version is the desired version; empty for the one that the resource wants by its own spec.version. Where that is
	// missing as well no version is looked at.
	Version string
}

// ErrExpectation is an expectation that can't be met.
var ErrExpectation = errors.New("invalid expectation")

// Validate returns an error for every expectation that can't be met: a condition without a type, or a field without a
// path. It wraps ErrExpectation. Objects of a kind with such an expectation are Unknown.
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
			return fmt.Errorf("%w: condition %s: status %.64q, use True, False or Unknown", ErrExpectation, c.Type, c.Status)
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

// before judges by what comes before the table; false when nothing is given.
func (e Expectation) before(s *subject) (Result, bool) {
	if e.Func == nil && e.Condition == nil && len(e.Fields) == 0 {
		return Result{}, false
	}
	if err := e.validate(); err != nil {
		return unknown("ExpectationInvalid", err.Error()), true
	}
	if e.Func != nil {
		result := e.Func(s.now, s.everything())
		if result.State == "" {
			result = unknown("NoAnswer", "the function for its kind has no answer")
		}
		return result, true
	}
	return e.expect(s), true
}

// expect returns the worst result of the condition and the fields, the first one among equals.
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

// subsystem judges an application status. A failed one has the condition Stalled, which has been looked at before.
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

// upgrading decides for an application status whose reconciled version isn't the desired one; an empty desired version
// is any. The status may say Ready still, of the version before.
func (s *subject) upgrading(desired string) (Result, bool) {
	version := condition.Text(condition.Map(s.status, "versions"), "reconciled")
	if desired == "" || version == desired {
		return Result{}, false
	}
	return inProgress("VersionDiffers", fmt.Sprintf("version %q is reconciled, %q is desired", version, desired),
		"status.versions.reconciled", "spec.version"), true
}
