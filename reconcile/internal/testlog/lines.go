package testlog

import "regexp"

var line = regexp.MustCompile(`(\w+\.go):\d+\b`)

// WithoutLines returns text without the numbers of lines: "front.go:57" becomes "front.go". The texts of panics have
// such numbers, which change with their file.
func WithoutLines(text string) string { return line.ReplaceAllString(text, "$1") }
