package status_test

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operkit/operkit/status"
)

// specifiedStatus is what the specification says of an update, rule by rule.
func specifiedStatus(v *vector, a status.Application, kwargs, current object) object {
	next := runtime.DeepCopyJSON(current)
	if next == nil {
		next = object{}
	}
	list, isList := current["conditions"].([]any)
	if _, given := current["conditions"]; given && !isList {
		v.because("status W2")
	}
	ready := specifiedCondition(v, list, "Ready", string(a.Ready.Reason), a.Ready.Message, a.Ready.Remove, kwargs["ready_message"] == nil)
	updating := specifiedCondition(v, list, "Updating", string(a.Updating.Reason), a.Updating.Message, a.Updating.Remove, kwargs["updating_message"] == nil)
	conditions := []any{}
	for _, c := range []object{ready, updating, specifiedProgress(v, list, ready, updating)} {
		if c != nil {
			conditions = append(conditions, any(c))
		}
	}
	next["conditions"] = append(conditions, specifiedOthers(v, list)...)
	specifiedParts(v, a, kwargs, next, ready, updating)
	if !specifiedChange(&vector{}, current, next) {
		v.because("status W1")
		return current
	}
	return next
}

// decisive is the entry of a type that counts: the newest, the first of equals.
func decisive(v *vector, list []any, conditionType string) object {
	var found object
	var newest time.Time
	for _, element := range list {
		c, ok := element.(object)
		if !ok || c["type"] != conditionType {
			continue
		}
		at := time.Unix(0, 0)
		for _, key := range []string{"lastTransactionTime", "lastTransitionTime"} {
			text, _ := c[key].(string)
			for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"} {
				if parsed, err := time.Parse(layout, text); err == nil {
					at = parsed
				}
			}
		}
		if found != nil {
			v.because("status 19")
		}
		if found == nil || at.After(newest) {
			found, newest = c, at
		}
	}
	return found
}

var specifiedStatuses = map[string]map[string]string{
	"Ready": {"Stable": "True", "Initializing": "False", "InProgress": "False", "ConfigError": "False", "Errored": "False"},
	"Updating": {
		"Stable": "False", "PreconditionWait": "True", "VerifyWait": "True", "VersionChange": "True", "ClusterError": "False", "Errored": "False",
	},
}

func specifiedCondition(v *vector, list []any, conditionType, reason, message string, remove, noMessage bool) object {
	present := decisive(v, list, conditionType)
	old, _ := present["reason"].(string)
	if _, known := specifiedStatuses[conditionType][old]; !known && old != "" {
		v.because("status W2")
		if reason == "" {
			return nil
		}
	}
	if reason == "" {
		reason = old
	}
	if remove || reason == "" {
		return nil
	}
	oldMessage, _ := present["message"].(string)
	switch {
	case message == "" && reason == old:
		if message = oldMessage; !noMessage && message != "" {
			v.because("status 8")
		}
	case noMessage && reason != old && oldMessage != "":
		v.because("status W3")
	}
	return dated(v, present, conditionType, specifiedStatuses[conditionType][reason], reason, message)
}

// dated is a condition over the present entry of its type.
func dated(v *vector, present object, conditionType, state, reason, message string) object {
	v.because("status W1", "status 28")
	c := runtime.DeepCopyJSON(present)
	if c == nil {
		c = object{}
	}
	at := nowText
	if old, _ := present["status"].(string); strings.EqualFold(old, state) {
		for _, key := range []string{"lastTransactionTime", "lastTransitionTime"} {
			text, _ := present[key].(string)
			for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
				if parsed, err := time.Parse(layout, text); err == nil {
					at = parsed.UTC().Format(time.RFC3339)
				}
			}
		}
	}
	delete(c, "lastTransactionTime")
	for key, value := range map[string]string{"type": conditionType, "status": state, "reason": reason, "message": message, "lastTransitionTime": at} {
		c[key] = value
	}
	return c
}

// specifiedProgress is rule 27.
func specifiedProgress(v *vector, list []any, ready, updating object) object {
	text := func(c object, key string) string { s, _ := c[key].(string); return s }
	r, u := text(ready, "reason"), text(updating, "reason")
	var conditionType string
	var cause object
	switch {
	case r == "Errored" || r == "ConfigError":
		conditionType, cause = "Stalled", ready
	case u == "Errored":
		conditionType, cause = "Stalled", updating
	case slices.Contains([]string{"PreconditionWait", "VerifyWait", "VersionChange", "ClusterError"}, u):
		conditionType, cause = "Reconciling", updating
	case r == "Initializing" || r == "InProgress":
		conditionType, cause = "Reconciling", ready
	default:
		return nil
	}
	v.because("status 27")
	return dated(v, decisive(v, list, conditionType), conditionType, "True", text(cause, "reason"), text(cause, "message"))
}

func specifiedOthers(v *vector, list []any) []any {
	var others []any
	seen := map[string]bool{}
	for _, element := range list {
		c, ok := element.(object)
		conditionType, _ := c["type"].(string)
		switch {
		case !ok:
			v.because("status W2")
		case slices.Contains([]string{"Ready", "Updating"}, conditionType):
		case slices.Contains([]string{"Reconciling", "Stalled"}, conditionType):
			v.because("status 27")
		case conditionType == "":
			v.because("status W2")
			others = append(others, c)
		case !seen[conditionType]:
			seen[conditionType] = true
			others = append(others, decisive(v, list, conditionType))
		}
	}
	return others
}
