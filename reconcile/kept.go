package reconcile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// mostKept is how many fields of a component are named in a status.
const mostKept = 10

// kept names the fields of each component that were left to others as they are, such as the replicas that somebody has
// set through the scale subresource: what the resource says of them has no effect.
func (s *Session) kept() map[string]string {
	texts := map[string]string{}
	for _, c := range s.components {
		var fields []string
		for _, result := range c.results {
			for _, field := range result.Kept {
				fields = append(fields, fmt.Sprintf("%s %s: %s", result.Ref.Kind.Kind, result.Ref.Name, field.Left()))
			}
		}
		if more := len(fields) - mostKept; more > 0 {
			fields = append(fields[:mostKept], fmt.Sprintf("and %d more", more))
		}
		if len(fields) > 0 {
			texts[c.name] = strings.Join(fields, "; ")
		}
	}
	return texts
}

// withKept is the message of a condition, and what was left to others.
func withKept(message string, kept map[string]string) string {
	parts := make([]string, 0, 1+len(kept))
	if message != "" {
		parts = append(parts, message)
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		parts = append(parts, kept[name])
	}
	return strings.Join(parts, "; ")
}
