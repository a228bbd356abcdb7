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
	LastUpdateTime      = "lastUpdateTime"
)

// List returns status.conditions of an object, nil when there is none or when
// status or conditions have another shape.
func List(object map[string]any) []any {
	status, _ := object["status"].(map[string]any)
	return ListOf(status)
}

// ListOf returns the conditions of a status, nil if there are none or they aren't a list. A document made in Go may
// hold a list of maps or of metav1.Condition; ListOf converts it to the form that a decoder returns.
func ListOf(status map[string]any) []any {
	switch list := status["conditions"].(type) {
	case []any:
		return list
	case []map[string]any:
		return converted(list, func(entry map[string]any) any { return entry })
	case []metav1.Condition:
		return converted(list, func(c metav1.Condition) any { return Document(c) })
	}
	return nil
}

// Foreign reports whether the conditions of a status are a non-empty list of a Go type that ListOf doesn't read.
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

// Document returns a condition as a document. It leaves out a zero time, a time that can't be written, and a zero
// generation.
func Document(c metav1.Condition) map[string]any {
	entry := map[string]any{Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message}
	if Datable(c.LastTransitionTime.Time) {
		entry[LastTransitionTime] = c.LastTransitionTime.UTC().Format(time.RFC3339)
	}
	if c.ObservedGeneration != 0 {
		entry[ObservedGeneration] = c.ObservedGeneration
	}
	return entry
}

// Newest returns the index of the entry of a type with the newest transition, and the number of entries of that type.
// Of equally new entries the first one counts. A missing or unreadable time counts as the epoch. The index is -1 if no
// entry has the type, or if the type is empty. Elements that aren't maps are skipped.
func Newest(list []any, conditionType string) (index, count int) {
	return newest(list, conditionType, orEpoch)
}

func newest(list []any, conditionType string, date func(entry map[string]any) time.Time) (index, count int) {
	index = -1
	if conditionType == "" {
		return index, 0
	}
	for i, element := range list {
		entry, ok := element.(map[string]any)
		if !ok || Text(entry, Type) != conditionType {
			continue
		}
		count++
		// Times are parsed only if a type has several entries: nearly every list has one entry for each type.
		if count == 1 || date(entry).After(date(list[index].(map[string]any))) {
			index = i
		}
	}
	return index, count
}

// Find returns the newest entry of a type (see Newest), nil if there is none.
func Find(list []any, conditionType string) map[string]any {
	return FindBy(list, conditionType, "")
}

// FindBy is Find for entries that hold their time at timeKey. An empty timeKey means lastTransitionTime.
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

// StatusOf reads the status of an entry from a boolean or from the texts true and false, in upper or lower case.
// Everything else is Unknown, and so is a missing status.
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
