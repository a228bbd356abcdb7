package explore

import (
	"reflect"
	"regexp"
	"strings"
)

var (
	// ofPast matches the paths of fields of a status that say what was, of texts for people, and of observed
	// generations, which are judged by themselves.
	ofPast = regexp.MustCompile(`(?i)\.(last|previous|prior|former|old|recent|history|reason|message|observedGeneration)|message$`)
	// inLog matches what is in an element without a name: such lists are logs of what has happened.
	inLog = regexp.MustCompile(`\[\d+\]\.`)
	// ofCondition matches a whole condition.
	ofCondition  = regexp.MustCompile(`^\.status\.conditions\[[^\]]*\]$`)
	numberInText = regexp.MustCompile(`\d+`)
)

// isHistory reports whether a status may differ so when something has happened and was undone: a number has grown, also
// within a text, there is a field that wasn't there, or a field says what was. A condition that is True is none.
func isHistory(d difference) bool {
	if ofPast.MatchString(d.Path) || inLog.MatchString(d.Path) {
		return true
	}
	if ofCondition.MatchString(d.Path) && (d.Before == nil || d.After == nil) {
		return !isTrue(d.Before) && !isTrue(d.After)
	}
	if d.Before == nil || reflect.TypeOf(d.Before) != reflect.TypeOf(d.After) {
		return d.Before == nil
	}
	if text, is := d.Before.(string); is {
		return numberInText.ReplaceAllString(text, "") == numberInText.ReplaceAllString(d.After.(string), "")
	}
	before, isNumber := numberOf(d.Before)
	after, _ := numberOf(d.After)
	return isNumber && after > before
}

func isTrue(condition any) bool {
	fields, _ := condition.(map[string]any)
	return fields["status"] == "True"
}

// lingers reports whether a difference shows that something of an edit is left: in a status that isn't only history.
func (l *lesson) lingers(p pair, d difference) bool {
	if !strings.HasPrefix(d.Path, ".status") {
		return true
	}
	kind, _, _ := strings.Cut(nameOf(l.life.resource), " ")
	return p.first >= 0 && !p.anew && strings.HasPrefix(d.object, kind+" ") && !isHistory(d)
}

// numberOf returns a number of a JSON document.
func numberOf(value any) (number float64, is bool) {
	switch value := value.(type) {
	case int64:
		return float64(value), true
	case float64:
		return value, true
	}
	return 0, false
}
