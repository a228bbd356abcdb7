package templates

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	apijson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// document is one of the YAML documents in a text, and the line of the text that it begins in.
type document struct {
	text string
	line int
}

// documents splits a text; those that hold nothing but comments are left out.
func documents(text string) []document {
	var all []document
	current, line := document{line: 1}, 0
	flush := func() {
		if !isEmpty(current.text) {
			all = append(all, current)
		}
	}
	for part := range strings.Lines(text) {
		line++
		rest, ends := separator(part)
		if ends {
			flush()
			current = document{line: line}
			part = rest
		}
		current.text += part
	}
	flush()
	return all
}

// separator tells whether a line ends a document. What stands behind the mark belongs to the next one, which
// keeps its first line, so that lines can be counted.
func separator(line string) (rest string, ends bool) {
	for _, mark := range []string{"---", "..."} {
		if rest, ok := strings.CutPrefix(line, mark); ok && (rest == "" || strings.ContainsRune(" \t\r\n", rune(rest[0]))) {
			return "   " + rest, true
		}
	}
	return "", false
}

func isEmpty(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}

// problem is a mistake in a document, in a line of it that counts from 1; 0 is the document as a whole.
type problem struct {
	line int
	// quotes tells that the text may quote values.
	quotes bool
	text   string
}

// decode reads a document; a nil value is one that says nothing.
func (d document) decode() (any, []problem) {
	content, err := yaml.YAMLToJSONStrict([]byte(d.text))
	if err != nil {
		return nil, problemsOf(err)
	}
	var value any
	if err := apijson.Unmarshal(content, &value); err != nil {
		return nil, []problem{{quotes: true, text: err.Error()}}
	}
	return value, nil
}

var (
	lineOf = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)
	// quoteless are the words of the YAML parser that quote no values. A key is none.
	quoteless = regexp.MustCompile(`^(mapping values are not allowed|could not find expected|did not find expected|found character that cannot start|` +
		`block (sequence|mapping) entries are not allowed|found unexpected|found a tab|key .* already set in map)`)
)

// problemsOf reads what the YAML parser has to say: one line, or several of which the first is a heading.
func problemsOf(err error) []problem {
	var all []problem
	for text := range strings.Lines(err.Error()) {
		text = strings.TrimSpace(text)
		if text == "yaml: unmarshal errors:" || text == "" {
			continue
		}
		p := problem{text: strings.TrimPrefix(text, "yaml: ")}
		if found := lineOf.FindStringSubmatch(text); found != nil {
			p.line, _ = strconv.Atoi(found[1])
			p.text = found[2]
		}
		p.quotes = !quoteless.MatchString(p.text)
		all = append(all, p)
	}
	return all
}

// objectsOf returns the objects of a decoded document: its own, or the items of a list.
func objectsOf(value any) ([]map[string]any, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("is %s and no object: apiVersion, kind and metadata are needed", kindOf(value))
	}
	kind, _ := object["kind"].(string)
	items, isList := object["items"].([]any)
	if !strings.HasSuffix(kind, "List") || !isList {
		return []map[string]any{object}, nil
	}
	var all []map[string]any
	var errs []error
	for i, item := range items {
		if item, ok := item.(map[string]any); ok && kind != "List" && item["kind"] == nil && item["apiVersion"] == nil {
			// The items of a list of one kind needn't repeat it.
			item["kind"], item["apiVersion"] = strings.TrimSuffix(kind, "List"), object["apiVersion"]
		}
		found, err := objectsOf(item)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: items[%d]: %w", kind, i, err))
		}
		all = append(all, found...)
	}
	return all, errors.Join(errs...)
}

func kindOf(value any) string {
	switch value.(type) {
	case string:
		return "text"
	case []any:
		return "a list"
	case nil:
		return "nothing"
	}
	return "a number or a boolean"
}
