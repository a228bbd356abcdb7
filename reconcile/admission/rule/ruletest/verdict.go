package ruletest

import (
	"fmt"
	"strings"

	"github.com/operkit/operkit/reconcile/admission/rule"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Verdict is what the API server would decide about a request.
type Verdict struct {
	// Accepted: the object would be stored.
	Accepted bool
	// Broken are the rules that the object breaks, and those that can't be evaluated for it. An object that breaks
	// rules of a policy is accepted if the policy doesn't deny.
	Broken []Broken
	// Invalid are mistakes that aren't about rules, such as a value of the wrong type. If there are some, the API
	// server may check no rules.
	Invalid field.ErrorList
	// Ignored are rules that can't be evaluated, in a policy that ignores failures.
	Ignored []Broken
	// Warnings are the warnings that the API server would send, such as for a broken rule about a value that an update
	// doesn't change.
	Warnings []string
	// Cost is the cost of all rules, of Budget. Beyond Budget the object is refused.
	Cost int64
}

// Broken is a rule that an object breaks.
type Broken struct {
	// Rule is the rule. It is nil if no single rule is the cause, but the cost of all of them.
	Rule *rule.Rule
	// Field is the field of the object, such as spec.ports[0].number. A policy doesn't name it: there it is the path of
	// the rule, such as spec.ports[*].number.
	Field string
	// Message is the message without the field.
	Message string
	// Reason is the reason that the API server reports: FieldValueInvalid, for example, in a definition, and Invalid in
	// a policy. It is empty for a rule of a policy that can't be evaluated.
	Reason string
	// Failed: the rule can't be evaluated for this object, for example because it divides by zero.
	Failed bool
	// Text is the whole text of the API server about the broken rule.
	Text string
}

// String returns the field and the message.
func (b Broken) String() string {
	if b.Field == "" {
		return b.Message
	}
	return b.Field + ": " + b.Message
}

// lines are the broken rules and the other mistakes, a line each.
func (v Verdict) lines() (lines []string) {
	for _, broken := range v.Broken {
		lines = append(lines, broken.String())
	}
	for _, invalid := range v.Invalid {
		lines = append(lines, invalid.Error())
	}
	return lines
}

// String returns the verdict in one word, and each broken rule and each other mistake in a line below it.
func (v Verdict) String() string {
	word := "refused"
	if v.Accepted {
		word = "accepted"
	}
	lines := v.lines()
	for _, ignored := range v.Ignored {
		lines = append(lines, "ignored: "+ignored.String())
	}
	if len(lines) == 0 {
		return word
	}
	return fmt.Sprintf("%s:\n  %s", word, strings.Join(lines, "\n  "))
}
