package status

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Errors about conditions, verdicts and Applications wrap one of these.
var (
	// ErrInvalid means that a condition, a verdict, an Application or a Values has an invalid type, status, reason,
	// generation, kind, path or value.
	ErrInvalid = errors.New("invalid")
	// ErrNoTime means that a transition needs a time, and the given time is zero or can't be written in RFC 3339.
	ErrNoTime = errors.New("no usable time given")
	// ErrUnsupportedObject means that an object can't hold conditions: it is nil, or has a type that Conditions doesn't
	// support.
	ErrUnsupportedObject = errors.New("object can't hold conditions")
)

var (
	errInvalidType       = fmt.Errorf("%w condition type", ErrInvalid)
	errInvalidStatus     = fmt.Errorf("%w condition status", ErrInvalid)
	errInvalidReason     = fmt.Errorf("%w reason", ErrInvalid)
	errInvalidGeneration = fmt.Errorf("%w generation", ErrInvalid)
	errInvalidKind       = fmt.Errorf("%w kind", ErrInvalid)
	errInvalidPath       = fmt.Errorf("%w path", ErrInvalid)
	errInvalidValue      = fmt.Errorf("%w value", ErrInvalid)
)

// The bounds of metav1.Condition, in bytes.
const (
	maxTypeLength    = 316
	maxReasonLength  = 1024
	maxMessageLength = 32768
)

// Validate returns an error if the API server would refuse a condition's type, status, reason or observedGeneration. A
// message that is too long is no error: a write shortens it and marks the end. lastTransitionTime isn't checked: a
// write sets it. The error wraps ErrInvalid.
func Validate(c metav1.Condition) error {
	if err := validateType(c.Type); err != nil {
		return err
	}
	return validateContent(&c)
}

func validateType(conditionType string) error {
	if conditionType == "" {
		return fmt.Errorf("condition: %w: it is empty", errInvalidType)
	}
	if len(conditionType) > maxTypeLength {
		return fmt.Errorf("condition %.64q...: %w: %d bytes, at most %d are allowed", conditionType, errInvalidType, len(conditionType), maxTypeLength)
	}
	if faults := validation.IsQualifiedName(conditionType); len(faults) > 0 {
		return fmt.Errorf("condition %q: %w: %s", conditionType, errInvalidType, faults[0])
	}
	return nil
}

func validateContent(c *metav1.Condition) error {
	switch c.Status {
	case metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown:
	default:
		return fmt.Errorf("condition %q: %w: %.64q: use True, False or Unknown", c.Type, errInvalidStatus, string(c.Status))
	}
	if len(c.Reason) > maxReasonLength {
		return fmt.Errorf("condition %q: %w: %d bytes, at most %d are allowed", c.Type, errInvalidReason, len(c.Reason), maxReasonLength)
	}
	if !reasonFits(c.Reason) {
		return fmt.Errorf("condition %q: %w: %.64q: use a CamelCase word", c.Type, errInvalidReason, c.Reason)
	}
	if c.ObservedGeneration < 0 {
		return fmt.Errorf("condition %q: %w: observedGeneration %d is negative", c.Type, errInvalidGeneration, c.ObservedGeneration)
	}
	return nil
}

// reasonFits matches ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$ without a regular expression, because it runs on every
// write of a condition.
func reasonFits(reason string) bool {
	for i := range len(reason) {
		switch c := reason[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case i > 0 && ('0' <= c && c <= '9' || c == '_'):
		case i > 0 && i < len(reason)-1 && (c == ',' || c == ':'):
		default:
			return false
		}
	}
	return reason != ""
}

// maxDetailLength limits the text of each component, because a status may hold thousands of components.
const maxDetailLength = 1024

// maxDetailsLength limits the texts of all components together. Long texts are shortened to keep that limit, but never
// to less than minDetailLength, so their sum may exceed the limit. A status of more than about a megabyte can't be
// stored.
const (
	maxDetailsLength = 256 << 10
	minDetailLength  = 80
)

func fits(text string, limit int) bool { return len(text) <= limit && validUTF8(text) }

// validUTF8 is utf8.ValidString, but faster for ASCII, because it runs on every write of a condition: it checks eight
// bytes at once. The last eight bytes may overlap the ones before.
func validUTF8(text string) bool {
	const high = 0x8080808080808080
	if len(text) < 8 {
		return utf8.ValidString(text)
	}
	last := len(text) - 8
	bits := word(text[last:])
	for at := 0; at < last; at += 8 {
		bits |= word(text[at:])
	}
	return bits&high == 0 || utf8.ValidString(text)
}

// word returns the first eight bytes as one number. The compiler turns it into a single load.
func word(text string) uint64 {
	_ = text[7]
	return uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
		uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
}

// clip shortens a text to limit bytes of valid UTF-8, because the API server would change invalid UTF-8. It replaces
// the end with a mark that has the original length.
func clip(text string, limit int) string {
	if fits(text, limit) {
		return text
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	mark := fmt.Sprintf("... (truncated, %d bytes in all)", len(text))
	end := limit - len(mark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}
