package rule

import (
	"fmt"
	"regexp"
	"strings"
)

// step is a step of a path: to a field, to all elements of a list, or to all values of a map.
type step struct {
	name     string
	elements bool
	values   bool
}

var (
	// fieldName is a name that CEL can write.
	fieldName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// reserved are names that CEL can't write as they are.
	reserved = map[string]bool{"true": true, "false": true, "null": true, "in": true, "as": true, "break": true, "const": true,
		"continue": true, "else": true, "for": true, "function": true, "if": true, "import": true, "let": true, "loop": true,
		"package": true, "namespace": true, "return": true, "var": true, "void": true, "while": true}
)

// parsePath returns the steps of a path, none for the whole object.
func parsePath(path string) (steps []step, err error) {
	if path == "" {
		return nil, nil
	}
	for _, part := range strings.Split(path, ".") {
		name, rest := part, ""
		if i := strings.IndexAny(part, "[{"); i >= 0 {
			name, rest = part[:i], part[i:]
		}
		if name == "" {
			return nil, fmt.Errorf("path %q: use names with dots between them, such as spec.ports[*].number", path)
		}
		steps = append(steps, step{name: name})
		for rest != "" {
			switch {
			case strings.HasPrefix(rest, "[*]"):
				steps = append(steps, step{elements: true})
			case strings.HasPrefix(rest, "{*}"):
				steps = append(steps, step{values: true})
			default:
				return nil, fmt.Errorf("path %q: %q: use [*] for the elements of a list, and {*} for the values of a map", path, rest)
			}
			rest = rest[3:]
		}
	}
	return steps, nil
}

// writable reports whether CEL can write a name as it is.
func writable(name string) bool { return fieldName.MatchString(name) && !reserved[name] }
