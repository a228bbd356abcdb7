package cluster

import (
	"fmt"
	globs "path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// wildcards are the special characters of patterns.
const wildcards = `*?[]^\`

// NamespacePattern reports whether text, in the syntax of [Namespaces], is a pattern or an exclusion rather than a
// plain name. It returns an error if text can't match any namespace.
func NamespacePattern(text string) (isPattern bool, err error) {
	name, out := strings.CutPrefix(text, "!")
	if _, err := globs.Match(name, ""); err != nil || name == "" {
		return false, fmt.Errorf("namespace %q: neither a name nor a pattern: use something like team-*", text)
	}
	if strings.ContainsAny(name, wildcards) {
		isPattern = true
		// The other characters must be valid in a name.
		name = strings.Trim(strings.Map(func(r rune) rune {
			if strings.ContainsRune(wildcards, r) {
				return -1
			}
			return r
		}, name), "-")
		if name == "" {
			return true, nil
		}
	}
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		return false, fmt.Errorf("namespace %q: %s", text, problems[0])
	}
	return isPattern || out, nil
}

// areNames reports whether all of patterns are plain names. The patterns must be valid.
func areNames(patterns []string) bool {
	return !slices.ContainsFunc(patterns, func(text string) bool {
		isPattern, _ := NamespacePattern(text)
		return isPattern
	})
}

// inScope reports whether a namespace is in scope. The last pattern that matches name decides: name is in scope unless
// this pattern is an exclusion. If no pattern matches, name is in scope if the first pattern is an exclusion or there
// are no patterns.
func inScope(patterns []string, name string) bool {
	in := len(patterns) == 0 || strings.HasPrefix(patterns[0], "!")
	for _, pattern := range patterns {
		pattern, out := strings.CutPrefix(pattern, "!")
		// The patterns are valid.
		if matches, _ := globs.Match(pattern, name); matches {
			in = !out
		}
	}
	return in
}
