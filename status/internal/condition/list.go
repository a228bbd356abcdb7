package condition

import (
	"reflect"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Keys of one condition in a document.
const (
	Type               = "type"
	Status             = "status"
	Reason             = "reason"
	Message            = "message"
	ObservedGeneration = "observedGeneration"
	LastTransitionTime = "lastTransitionTime"
	// LastTransactionTime is the key that oper8 wrote instead of
	// LastTransitionTime.
	LastTransactionTime = "lastTransactionTime"
)

// List returns status.conditions of an object, nil when there is none or when
// status or conditions have another shape.
func List(object map[string]any) []any {
	status, _ := object["status"].(map[string]any)
	return ListOf(status)
}

// ListOf returns the conditions of a status, nil when there are none or when they are no list. Lists of documents made
// in Go, of maps or of metav1.Condition, are converted to what a decoder would return.
func ListOf(status map[string]any) []any {
	switch list := status["conditions"].(type) {
	case []any:
		return list
	case []map[string]any:
		return converted(list, func(entry map[string]any) any { return entry })
	case []metav1.Condition:
		return converted(list, func(c metav1.Condition) any { return documentOf(c) })
	}
	return nil
}

// Foreign reports whether the conditions of a status are a list with content of
// another Go type than ListOf reads.
func Foreign(status map[string]any) bool {
	switch status["conditions"].(type) {
	case nil, []any, []map[string]any, []metav1.Condition:
		return false
	}
	value := reflect.ValueOf(status["conditions"])
	return value.Kind() == reflect.Slice && value.Len() > 0
}

func converted[T any](list []T, convert func(T) any) []any {
	result := make([]any, len(list))
	for i := range list {
		result[i] = convert(list[i])
	}
	return result
}

func documentOf(c metav1.Condition) map[string]any {
	entry := map[string]any{Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message}
	if Datable(c.LastTransitionTime.Time) {
		entry[LastTransitionTime] = c.LastTransitionTime.UTC().Format(time.RFC3339)
	}
	if c.ObservedGeneration != 0 {
		entry[ObservedGeneration] = c.ObservedGeneration
	}
	return entry
}

// Newest returns the index of the entry that decides for a type, and how many entries have that type. The newest
// transition decides, the first listed one among equals; a missing or unreadable time counts as the epoch. Without an
// entry of the type, and for the empty type, the index is -1. Elements that are no maps are passed over.
func Newest(list []any, conditionType string) (index, count int) {
	return newest(list, conditionType, orEpoch)
}

func newest(list []any, conditionType string, date func(entry map[string]any) time.Time) (index, count int) {
	index = -1
	if conditionType == "" {
		return index, 0
	}
	var newest time.Time
	for i, element := range list {
		entry, ok := element.(map[string]any)
		if !ok || Text(entry, Type) != conditionType {
			continue
		}
		count++
		if count == 1 {
			index = i
			continue
		}
		// Times are parsed only where two entries compete: one entry per type
		// is what nearly every list holds.
		if count == 2 {
			newest = date(list[index].(map[string]any))
		}
		if at := date(entry); at.After(newest) {
			index, newest = i, at
		}
	}
	return index, count
}

// Find returns the entry that decides for a type, nil when there is none.
func Find(list []any, conditionType string) map[string]any {
	return FindBy(list, conditionType, "")
}

// FindBy is Find for entries that are dated by a key of their own; empty is the usual one.
func FindBy(list []any, conditionType, timeKey string) map[string]any {
	date := orEpoch
	if timeKey != "" && timeKey != LastTransitionTime {
		date = func(entry map[string]any) time.Time {
			if at, dated := ParseTime(entry[timeKey]); dated {
				return at
			}
			return time.Unix(0, 0)
		}
	}
	index, _ := newest(list, conditionType, date)
	if index < 0 {
		return nil
	}
	return list[index].(map[string]any)
}

// StatusOf reads the status of an entry: the texts true and false in any
// case, and booleans, count; everything else, a missing one too, is Unknown.
func StatusOf(entry map[string]any) metav1.ConditionStatus {
	switch value := entry[Status].(type) {
	case string:
		return ParseStatus(value)
	case bool:
		if value {
			return metav1.ConditionTrue
		}
		return metav1.ConditionFalse
	}
	return metav1.ConditionUnknown
}

// ParseStatus reads a status text as StatusOf does.
func ParseStatus(text string) metav1.ConditionStatus {
	switch {
	case text == "True" || text == "False":
		return metav1.ConditionStatus(text)
	case strings.EqualFold(text, "true"):
		return metav1.ConditionTrue
	case strings.EqualFold(text, "false"):
		return metav1.ConditionFalse
	}
	return metav1.ConditionUnknown
}

// Text returns the string at a key, empty when there is none.
func Text(document map[string]any, key string) string {
	text, _ := document[key].(string)
	return text
}

// Map returns the map at a key, nil when there is none.
func Map(document map[string]any, key string) map[string]any {
	value, _ := document[key].(map[string]any)
	return value
}
