package rule

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// expression returns the rule as an expression about object and oldObject. A macro binds self to the value of the
// field, so that the text of the rule stays as it is.
func (r Rule) expression(steps []step) (string, error) {
	if !mentions(r.CEL, "oldSelf") {
		return within("object", steps, 0, func(value string) string { return bound("self", value, r.CEL) }), nil
	}
	if slices.ContainsFunc(steps, func(s step) bool { return s.elements || s.values }) {
		return "", errors.New("a policy can't compare elements with those before an update: move the rule to the list")
	}
	checked := within("object", steps, 0, func(value string) string { return bound("self", value, r.CEL) })
	if r.Created {
		before := "oldObject == null ? optional.none() : " + optionalAt("oldObject", steps)
		return fmt.Sprintf("[%s].all(oldSelf, %s)", before, checked), nil
	}
	return "oldObject == null || " + within("oldObject", steps, 0, func(value string) string {
		return bound("oldSelf", value, checked)
	}), nil
}

// bound returns an expression in which a name stands for a value.
func bound(name, value, expression string) string {
	return fmt.Sprintf("[%s].all(%s, %s)", value, name, expression)
}

// within returns an expression that is true where the steps from base lead nowhere, and otherwise what check returns
// for the value, or for each of the values, to which they lead.
func within(base string, steps []step, depth int, check func(value string) string) string {
	if len(steps) == 0 {
		return check(base)
	}
	switch next, rest := steps[0], steps[1:]; {
	case next.elements:
		element := "e" + strconv.Itoa(depth)
		return fmt.Sprintf("%s.all(%s, %s)", base, element, within(element, rest, depth+1, check))
	case next.values:
		key := "k" + strconv.Itoa(depth)
		return fmt.Sprintf("%s.all(%s, %s)", base, key, within(base+"["+key+"]", rest, depth+1, check))
	default:
		value, present := field(base, next.name)
		return fmt.Sprintf("(!%s || %s == null || %s)", present, value, within(value, rest, depth, check))
	}
}

// field returns the expressions for a field of base, and for whether it is there.
func field(base, name string) (value, present string) {
	if writable(name) {
		return base + "." + name, "has(" + base + "." + name + ")"
	}
	quoted := strconv.Quote(name)
	return base + "[" + quoted + "]", "(" + quoted + " in " + base + ")"
}

// optionalAt returns an expression for the optional value to which the steps lead.
func optionalAt(base string, steps []step) string {
	guards := ""
	for _, next := range steps {
		value, present := field(base, next.name)
		guards += fmt.Sprintf("!%s || %s == null ? optional.none() : ", present, value)
		base = value
	}
	return guards + "optional.of(" + base + ")"
}

// message returns the expression for the message, which is evaluated when the rule is broken.
func (r Rule) message(steps []step) (string, error) {
	if mentions(r.MessageCEL, "oldSelf") {
		return "", errors.New("the message of a policy can't use oldSelf")
	}
	if slices.ContainsFunc(steps, func(s step) bool { return s.elements || s.values }) {
		return "", errors.New("a policy can't compose a message about an element: use Message")
	}
	value := "object"
	for _, next := range steps {
		value, _ = field(value, next.name)
	}
	prefix := ""
	if r.Path != "" {
		prefix = strconv.Quote(r.Path+": ") + " + "
	}
	return fmt.Sprintf("%s[%s].map(self, %s)[0]", prefix, value, r.MessageCEL), nil
}
