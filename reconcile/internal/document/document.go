package document

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	apijson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// Document is one of the YAML documents in a text, and the line of the text that it begins in.
type Document struct {
	Text string
	Line int
}

// Split splits a text; documents that hold nothing but comments are left out.
func Split(text string) []Document {
	var all []Document
	current, line := Document{Line: 1}, 0
	flush := func() {
		if linesBefore(current.Text) >= 0 {
			all = append(all, current)
		}
	}
	for part := range strings.Lines(text) {
		line++
		rest, ends := separator(part)
		if ends {
			flush()
			current = Document{Line: line}
			part = rest
		}
		current.Text += part
	}
	flush()
	return all
}

// FirstLine returns the first line of a document that isn't empty or a comment.
func (d Document) FirstLine() int {
	return d.Line + max(linesBefore(d.Text), 0)
}

// linesBefore returns the number of lines before the first one that isn't empty or a comment, -1 if there is none.
func linesBefore(text string) int {
	number := 0
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return number
		}
		number++
	}
	return -1
}

// separator reports whether a line ends a document. rest is the text after the mark. rest counts as the first line of
// the next document, so that its other lines have the right numbers.
func separator(line string) (rest string, ends bool) {
	for _, mark := range []string{"---", "..."} {
		if rest, ok := strings.CutPrefix(line, mark); ok && (rest == "" || strings.ContainsRune(" \t\r\n", rune(rest[0]))) {
			return "   " + rest, true
		}
	}
	return "", false
}

// Problem is a mistake in a document. Line counts the lines of the document from 1; 0 means the whole document.
type Problem struct {
	Line int
	// Quotes: the text may quote values.
	Quotes bool
	Text   string
}

// Decode decodes a document; the value is nil for an empty one. Duplicate keys are refused, and integers are int64.
func (d Document) Decode() (any, []Problem) {
	content, err := yaml.YAMLToJSONStrict([]byte(d.Text))
	if err != nil {
		return nil, problemsOf(err)
	}
	var value any
	if err := apijson.Unmarshal(content, &value); err != nil {
		return nil, []Problem{{Quotes: true, Text: err.Error()}}
	}
	return value, nil
}

var (
	lineOf = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)
	// quoteless matches messages of the YAML parser that quote no values; they may quote keys.
	quoteless = regexp.MustCompile(`^(mapping values are not allowed|could not find expected|did not find expected|found character that cannot start|` +
		`block (sequence|mapping) entries are not allowed|found unexpected|found a tab|key .* already set in map)`)
)

// problemsOf reads an error of the YAML parser: one line, or a heading and several lines.
func problemsOf(err error) []Problem {
	var all []Problem
	for text := range strings.Lines(err.Error()) {
		text = strings.TrimSpace(text)
		if text == "yaml: unmarshal errors:" || text == "" {
			continue
		}
		p := Problem{Text: strings.TrimPrefix(text, "yaml: ")}
		if found := lineOf.FindStringSubmatch(text); found != nil {
			p.Line, _ = strconv.Atoi(found[1])
			p.Text = found[2]
		}
		p.Quotes = !quoteless.MatchString(p.Text)
		all = append(all, p)
	}
	return all
}

// Objects returns the objects in a decoded document: the document itself, or its items if it is a list.
func Objects(value any) ([]map[string]any, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("is %s, not an object: apiVersion, kind and metadata are needed", KindOf(value))
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
			// Items of a list of one kind, such as a ConfigMapList, may leave out their kind.
			item["kind"], item["apiVersion"] = strings.TrimSuffix(kind, "List"), object["apiVersion"]
		}
		found, err := Objects(item)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: items[%d]: %w", kind, i, err))
		}
		all = append(all, found...)
	}
	return all, errors.Join(errs...)
}

// KindOf describes the type of a value that should have been a map or text.
func KindOf(value any) string {
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
