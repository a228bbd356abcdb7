package yaml

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/operkit/operkit/smp/internal/document"
)

// Decode reads one YAML document from text; an empty text is null. depth is the number of levels that containers may be
// nested. Errors name the line if it is known. An error about too much nesting wraps [document.ErrDepth].
func Decode(text []byte, depth int) (any, error) {
	if err := single(text); err != nil {
		return nil, err
	}
	converted, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, plainError(err)
	}
	value, err := document.Decode(converted, depth)
	if err != nil {
		// The offset in the error refers to the converted text, which the caller doesn't have.
		var syntax *document.SyntaxError
		if errors.As(err, &syntax) {
			err = syntax.Err
		}
		return nil, err
	}
	return value, exact(text, value)
}

// plainError returns the error of the YAML library in one line, without its prefix about the conversion.
func plainError(err error) error {
	message := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	message = strings.TrimPrefix(message, "yaml: ")
	message = strings.TrimPrefix(message, "unmarshal errors:")
	message = strings.Join(strings.Fields(message), " ")
	if strings.Contains(message, "exceeded max depth") {
		return fmt.Errorf("%w: %s", document.ErrDepth, message)
	}
	return errors.New(message)
}

// single returns an error if text has a second document, which the library would ignore.
func single(text []byte) error {
	started, ended := false, false
	line := 0
	for content := range bytes.Lines(text) {
		line++
		content = bytes.TrimRight(content, "\r\n")
		switch {
		case marker(content, "---"):
			ended = ended || started
			content = content[3:]
		case marker(content, "..."):
			ended = ended || started
			continue
		case !started && bytes.HasPrefix(content, []byte("%")):
			continue
		}
		if content = bytes.TrimLeft(content, " \t"); len(content) == 0 || content[0] == '#' {
			continue
		}
		if ended {
			return fmt.Errorf("line %d: a second document begins: give one at a time", line)
		}
		started = true
	}
	return nil
}

// marker reports whether a line is a marker between documents.
func marker(line []byte, mark string) bool {
	rest, found := bytes.CutPrefix(line, []byte(mark))
	return found && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t')
}

// long finds text that may be a number with more digits than a float64 always keeps.
var long = regexp.MustCompile(`[-+]?[0-9_]*\.?[0-9_]{8,}(\.[0-9_]*)?([eE][-+]?[0-9]+)?`)

// exact returns an error if the library has dropped digits of a number in the text. A 64-bit integer, and a number that
// equals its float64, lose no digits.
func exact(text []byte, value any) error {
	var rounded map[float64]string
	for _, literal := range long.FindAll(text, -1) {
		want := strings.TrimPrefix(strings.ReplaceAll(string(literal), "_", ""), "+")
		f, isFloat := roundedNumber(want)
		if !isFloat {
			continue
		}
		if rounded == nil {
			rounded = map[float64]string{}
		}
		rounded[f] = string(literal)
	}
	if len(rounded) == 0 {
		return nil
	}
	return findRounded(value, rounded)
}

// roundedNumber returns the float64 that a literal becomes. rounded reports whether the float64 is another number than
// the literal.
func roundedNumber(literal string) (f float64, rounded bool) {
	f, err := json.Number(literal).Float64()
	if err != nil || math.IsInf(f, 0) {
		return 0, false
	}
	if _, err := document.Decode([]byte(literal), 0); err != nil {
		// The literal may not be a JSON number, such as .5 with many digits. Convert it to the JSON form to compare it.
		literal = normalLiteral(literal)
	}
	if integer(literal) || document.Equal(f, json.Number(literal)) {
		return 0, false
	}
	return f, true
}

// integer reports whether the library keeps a number as an integer.
func integer(literal string) bool {
	_, err := strconv.ParseInt(literal, 10, 64)
	_, unsignedErr := strconv.ParseUint(literal, 10, 64)
	return err == nil || unsignedErr == nil
}

// normalLiteral writes a number of YAML as JSON does: with a digit on each side of the point, without
// zeros before it.
func normalLiteral(literal string) string {
	sign := ""
	if strings.HasPrefix(literal, "-") {
		sign, literal = "-", literal[1:]
	}
	mantissa, exponent := literal, ""
	if i := strings.IndexAny(literal, "eE"); i >= 0 {
		mantissa, exponent = literal[:i], literal[i:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if fraction == "" {
		fraction = "0"
	}
	return sign + whole + "." + fraction + exponent
}

// findRounded returns an error if a number in value may be one of the rounded numbers.
func findRounded(value any, rounded map[float64]string) error {
	switch value := value.(type) {
	case map[string]any:
		for _, field := range value {
			if err := findRounded(field, rounded); err != nil {
				return err
			}
		}
	case []any:
		for _, element := range value {
			if err := findRounded(element, rounded); err != nil {
				return err
			}
		}
	case float64:
		if literal, found := rounded[value]; found {
			return fmt.Errorf("the number %s has more digits than YAML numbers keep: quote it, or use JSON", literal)
		}
	case json.Number:
		if f, err := value.Float64(); err == nil {
			return findRounded(f, rounded)
		}
	case int64:
		// The library writes a float64 that is a small whole number without a point.
		if f := float64(value); int64(f) == value {
			return findRounded(f, rounded)
		}
	}
	return nil
}
