package cluster

import (
	"fmt"
	globs "path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// wildcards are what makes a name a pattern.
const wildcards = `*?[]^\`

// NamespacePattern tells whether what Namespaces may be given is more than a name: a pattern, or one that keeps out. What
// no namespace can be called is an error.
func NamespacePattern(text string) (isPattern bool, err error) {
	name, out := strings.CutPrefix(text, "!")
	if _, err := globs.Match(name, ""); err != nil || name == "" {
		return false, fmt.Errorf("namespace %q: is no name and no pattern such as team-*", text)
	}
	if strings.ContainsAny(name, wildcards) {
		isPattern = true
		// What stands between them has to be as in names.
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

// areNames tells whether none of patterns, which have been checked, is more than a name.
func areNames(patterns []string) bool {
	return !slices.ContainsFunc(patterns, func(text string) bool {
		isPattern, _ := NamespacePattern(text)
		return isPattern
	})
}

// inScope tells whether the last of patterns that matches name lets it in. Those that begin with an exclamation mark
// keep it out; when the first one does, all others are in.
func inScope(patterns []string, name string) bool {
	in := len(patterns) == 0 || strings.HasPrefix(patterns[0], "!")
	for _, pattern := range patterns {
		pattern, out := strings.CutPrefix(pattern, "!")
		// Patterns are checked beforehand.
		if matches, _ := globs.Match(pattern, name); matches {
			in = !out
		}
	}
	return in
}
