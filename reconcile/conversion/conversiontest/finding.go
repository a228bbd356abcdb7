package conversiontest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Problem is what is wrong with a conversion.
type Problem string

// The problems.
const (
	// Panics and Fails: the function panics, or returns an error.
	Panics Problem = "panics"
	Fails  Problem = "returns an error"
	// Changes: the function changes the object that it gets.
	Changes Problem = "changes the object that it gets"
	// Differs: the results of the function differ for the same object.
	Differs Problem = "returns different results for the same object"
	// Lost: an object isn't the same after a way through other versions.
	Lost Problem = "isn't the same after the way back"
	// Unread: the function ignores a field that the other one fills, so that an edit of it never arrives.
	Unread Problem = "ignores a field that the other function fills"
	// Kept: only the annotation keeps a field, and Keeps doesn't name it.
	Kept Problem = "forgets a field"
)

// Finding is a mistake in a conversion.
type Finding struct {
	// Problem is what is wrong.
	Problem Problem
	// Function names the function, such as "Up of v1"; for Lost all functions on the way, for Kept both of a version.
	Function string
	// Way are the versions through which the object was converted, the first one is the version of Object.
	Way []string
	// Field is the path of a field that shows it, if there is one.
	Field string
	// Detail says what happened.
	Detail string
	// Object is the smallest object found that shows it, nil for Unread.
	Object map[string]any
}

// String returns the finding as text.
func (f Finding) String() string {
	text := fmt.Sprintf("%s %s", f.Function, f.Problem)
	if f.Problem == Lost {
		text = fmt.Sprintf("an object of %s %s (%s)", strings.Join(f.Way, " to "), f.Problem, f.Function)
	}
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	if f.Object != nil {
		object, err := json.Marshal(f.Object)
		if err != nil {
			object = fmt.Append(nil, f.Object)
		}
		text += "\nobject: " + string(object)
	}
	return text
}

// key tells findings of different mistakes apart.
func (f Finding) key() string {
	return fmt.Sprint(f.Problem, f.Function, f.Way, f.Problem == Unread || f.Problem == Kept, fieldKey(f))
}

// fieldKey is the field, for problems that are about one field each.
func fieldKey(f Finding) string {
	if f.Problem == Unread || f.Problem == Kept {
		return f.Field
	}
	return ""
}

// Report is the result of Check.
type Report struct {
	// Seed and Objects are those of the options; Objects is the number for all versions together.
	Seed    uint64
	Objects int
	// Findings are the mistakes, each once.
	Findings []Finding
	// Kept are the fields of each version that only the annotation keeps on the way through another one. Items of
	// lists are [*].
	Kept map[string][]string
}
