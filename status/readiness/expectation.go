package readiness

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/operkit/operkit/status/internal/condition"
)

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

// expect answers the worst of what the condition and the fields say, the first
// one among equals.
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
	want := condition.ParseStatus(says(c.Status, "True"))
	switch {
	case v.present && slices.Contains(c.FailedReasons, v.reason):
		return failed(v.reason, says(v.message, "the condition "+c.Type+" has failed"), field(c.Type))
	case v.present && v.status == want && s.outdated(v.entry):
		return inProgress("ConditionOutdated", "the condition "+c.Type+" is "+string(want)+" for an older generation", field(c.Type))
	case v.present && v.status == want:
		return ready(says(v.reason, c.Type), says(v.message, "the condition "+c.Type+" is "+string(want)), field(c.Type))
	}
	return inProgress(says(v.reason, "Not"+c.Type), says(v.message, "the condition "+c.Type+" is not "+string(want)), field(c.Type))
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

// plain is a value of a named type, such as a PodPhase, as a document holds it.
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

// subsystem judges an application status. One that has failed says so by the
// condition Stalled, which has been looked at before.
//
// spec: status 22
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
		return inProgress(says(updating.reason, "Updating"), says(updating.message, "the condition Updating is not False"), field("Updating"))
	}
	if result, done := s.upgrading(says(want.Version, condition.Text(s.spec, "version"))); done {
		return result
	}
	return ready(says(isReady.reason, "Ready"), says(isReady.message, "the subsystem is ready"), field("Ready"), field("Updating"))
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
