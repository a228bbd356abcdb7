package rule

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Rule is a rule about one field of an object.
type Rule struct {
	// Path names the field: names with dots between them, such as "spec.size"; empty for the whole object. [*] stands
	// for the elements of a list, as in "spec.ports[*].number", and {*} for the values of a map. Where the field is
	// absent, the rule isn't checked.
	Path string
	// CEL is the expression, which must be true. self is the value of the field.
	CEL string
	// Message says what must hold. It may be empty if MessageCEL isn't.
	Message string
	// MessageCEL is an expression for a message that depends on values, such as "'at most ' + string(self.max)". It
	// can't use oldSelf in a policy.
	MessageCEL string
	// Class is the class of the mistake, which a definition calls its reason; default Invalid.
	Class Class
	// Created: a rule with oldSelf is checked for new objects, too. Then oldSelf is an optional value:
	// "!oldSelf.hasValue() || self >= oldSelf.value()".
	Created bool
}

// Class is the class of a mistake.
type Class string

// The classes.
const (
	Invalid   Class = "FieldValueInvalid"
	Forbidden Class = "FieldValueForbidden"
	Required  Class = "FieldValueRequired"
	Duplicate Class = "FieldValueDuplicate"
)

// Set is a set of rules about one kind.
type Set []Rule

// Validate returns all mistakes in the rules that can be seen without compiling them.
func (s Set) Validate() error {
	var errs []error
	for i, r := range s {
		for _, err := range r.mistakes() {
			errs = append(errs, fmt.Errorf("rule %d (%s): %w", i+1, cut(r.CEL), err))
		}
	}
	return errors.Join(errs...)
}

// cut returns the beginning of an expression for an error.
func cut(expression string) string {
	line := strings.Join(strings.Fields(expression), " ")
	if runes := []rune(line); len(runes) > 40 {
		return string(runes[:40]) + "..."
	}
	return line
}

// mistakes returns the mistakes in a rule.
func (r Rule) mistakes() (errs []error) {
	if _, err := parsePath(r.Path); err != nil {
		errs = append(errs, err)
	}
	if strings.TrimSpace(r.CEL) == "" {
		errs = append(errs, errors.New("no expression"))
	}
	if r.Message == "" && r.MessageCEL == "" {
		errs = append(errs, errors.New("no message: say what must hold"))
	}
	if strings.ContainsAny(r.Message, "\n\r") {
		errs = append(errs, errors.New("the message has several lines: use one"))
	}
	if r.Class != "" && !slices.Contains([]Class{Invalid, Forbidden, Required, Duplicate}, r.Class) {
		errs = append(errs, fmt.Errorf("unknown class %q", r.Class))
	}
	if r.Created && !mentions(r.CEL, "oldSelf") {
		errs = append(errs, errors.New("Created is set, but the expression has no oldSelf"))
	}
	return errs
}
