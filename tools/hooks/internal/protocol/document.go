package protocol

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/hooks/internal/text"
	kjson "sigs.k8s.io/json"
)

// maxDepth is how deep objects and lists may be in each other. The deepest objects of Kubernetes, definitions with
// schemas, have some fifty levels.
const maxDepth = 500

// maxMistakes is how many mistakes of a response an error names, and maxMistake how long each one may be, in bytes.
const (
	maxMistakes = 10
	maxMistake  = 300
)

// document is a JSON object whose fields are read one after the other.
type document struct {
	fields   map[string]any
	strict   bool
	mistakes []string
	// more is the number of mistakes beside these.
	more int
}

// decode decodes a JSON object. Numbers without a fraction are int64.
func decode(body []byte, strict bool) (*document, error) {
	if err := checkDepth(body); err != nil {
		return nil, err
	}
	d := &document{strict: strict}
	var value any
	twice, err := kjson.UnmarshalStrict(body, &value)
	if err != nil {
		return nil, fmt.Errorf("the response isn't JSON: %w", err)
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the response must be a JSON object, not %s", kindOf(value))
	}
	d.fields = fields
	if strict {
		for _, err := range twice {
			d.fail("", "%v", err)
		}
	}
	return d, nil
}

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	}
	return "a number"
}

// checkDepth returns an error for JSON that is nested too deeply.
func checkDepth(body []byte) error {
	depth, inText, escaped := 0, false, false
	for _, c := range body {
		switch {
		case escaped:
			escaped = false
		case inText && c == '\\':
			escaped = true
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("the response is nested more than %d levels deep", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// fail notes a mistake. at is the path of the field, empty if the message has it.
func (d *document) fail(at, format string, args ...any) {
	if len(d.mistakes) == maxMistakes {
		d.more++
		return
	}
	message := fmt.Sprintf(format, args...)
	if at != "" {
		message = at + ": " + message
	}
	d.mistakes = append(d.mistakes, text.OneLine(message, maxMistake))
}

// err returns the mistakes in the order of their text.
func (d *document) err() error {
	if len(d.mistakes) == 0 {
		return nil
	}
	slices.Sort(d.mistakes)
	if d.more > 0 {
		d.mistakes = append(d.mistakes, fmt.Sprintf("and %d more", d.more))
	}
	return errors.New("response: " + strings.Join(d.mistakes, "; "))
}

// object returns a field that is an object, nil if it is null or absent.
func (d *document) object(name string) map[string]any {
	found, ok := d.fields[name].(map[string]any)
	if !ok && d.fields[name] != nil {
		d.fail(name, "must be an object")
	}
	return found
}

// boolean returns a field that is a boolean, false if it is null or absent.
func (d *document) boolean(name string) bool {
	found, ok := d.fields[name].(bool)
	if !ok && d.fields[name] != nil {
		d.fail(name, "must be true or false")
	}
	return found
}
