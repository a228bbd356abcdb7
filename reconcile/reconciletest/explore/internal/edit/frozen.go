package edit

import (
	"regexp"
	"strings"
)

// frozen are the paths of fields that rules in CEL are about. The cluster in memory doesn't evaluate them, so such
// fields keep their values: an edit might be one that an API server refuses.
type frozen map[string]bool

var (
	// inRule matches a field that a rule names, and what calls a function of it.
	inRule = regexp.MustCompile(`\b(?:self|oldSelf)\b((?:\.\??\w+)*)(\()?`)
	// unescaped are the characters for which names in CEL have words.
	unescaped = strings.NewReplacer("__underscores__", "__", "__dot__", ".", "__dash__", "-", "__slash__", "/")
)

// add adds the fields that the rules of a schema name. path is where the schema's values are.
func (f frozen) add(schema map[string]any, path string) {
	rules, _ := schema[validations].([]any)
	for _, one := range rules {
		rule, _ := one.(map[string]any)
		text, _ := rule["rule"].(string)
		matches := inRule.FindAllStringSubmatch(text, -1)
		if len(matches) == 0 {
			f[path] = true
		}
		for _, match := range matches {
			field := strings.ReplaceAll(match[1], "?", "")
			if match[2] != "" { // the last name is that of a function
				field = field[:max(strings.LastIndex(field, "."), 0)]
			}
			f[strings.TrimPrefix(path+unescaped.Replace(field), ".")] = true
		}
	}
}

// has reports whether a field keeps its value. A part of it may be free.
func (f frozen) has(path string) bool {
	for ; ; path = path[:max(strings.LastIndexAny(path, ".[{"), 0)] {
		if f[path] || path == "" {
			return f[path]
		}
	}
}

// hasPart reports whether a field or a part of it keeps its value.
func (f frozen) hasPart(path string) bool {
	for other := range f {
		if rest, below := strings.CutPrefix(other, path); below && (rest == "" || strings.Contains(".[{", rest[:1])) {
			return true
		}
	}
	return f.has(path)
}

// ruled reports whether a schema, or one of a part of its values, has rules.
func ruled(schema map[string]any) bool {
	if schema[validations] != nil || itemsOf(schema) != nil && ruled(itemsOf(schema)) || entriesOf(schema) != nil && ruled(entriesOf(schema)) {
		return true
	}
	for name := range propertiesOf(schema) {
		if ruled(propertyOf(schema, name)) {
			return true
		}
	}
	return false
}
