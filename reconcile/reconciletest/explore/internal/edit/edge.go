package edit

import (
	"math"
	"strings"
	"unicode/utf8"
)

// edgesOf returns the values at the edges of what is valid. A large maximum is left out, because it may be a number of
// objects.
func edgesOf(schema map[string]any, present any) (values []any) {
	if list, is := schema["enum"].([]any); is {
		return list
	}
	if least := smallest(schema); least != nil {
		values = append(values, least)
	}
	number, _ := numberOf(present)
	if most := largest(schema); most != nil {
		if highest, _ := numberOf(most); highest <= number+100 {
			values = append(values, most)
		}
	}
	if schema["type"] != "string" {
		return values
	}
	if value, can := shortestString(schema); can {
		values = append(values, value)
	}
	if value, can := longestString(schema); can {
		values = append(values, value)
	}
	return values
}

// shortestString returns the shortest valid string that is found, if its length or its characters are limited.
func shortestString(schema map[string]any) (string, bool) {
	if pattern, is := schema["pattern"].(string); is {
		return edgeOf(schema, pattern, 0, 1)
	}
	text := strings.Repeat("x", min(countOf(schema["minLength"], 0), longestText))
	return text, schema["minLength"] != nil && schema["format"] == nil && fits(schema, text)
}

// longestString returns the longest valid string, if its length is limited.
func longestString(schema map[string]any) (string, bool) {
	length := countOf(schema["maxLength"], math.MaxInt)
	if length > longestText || schema["format"] != nil {
		return "", false
	}
	if pattern, is := schema["pattern"].(string); is {
		return edgeOf(schema, pattern, length, -1)
	}
	text := strings.Repeat("x", length)
	return text, fits(schema, text)
}

// edgeOf returns the first string that is valid, with more or fewer repetitions of what a pattern lets repeat.
func edgeOf(schema map[string]any, pattern string, repetitions, change int) (string, bool) {
	for ; repetitions >= 0 && repetitions <= longestText; repetitions += change {
		text, can := generate(pattern, repetitions, 0)
		if can && utf8.RuneCountInString(text) <= longestText && fits(schema, text) {
			return text, true
		}
	}
	return "", false
}
