package ruletest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// mistakes returns the API server's errors about a definition, those about rules with the rule's number and field, in
// the order of the set. The API server compiles no rule as long as it finds other mistakes; they are reported here
// nevertheless.
func mistakes(rules []located, list field.ErrorList) (errs []error) {
	byRule := map[string][]error{}
	slices.SortStableFunc(list, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	for _, one := range list {
		i := slices.IndexFunc(rules, func(l located) bool { return strings.HasPrefix(one.Field, l.at.String()+".") })
		if i < 0 {
			errs = append(errs, one)
			continue
		}
		at := rules[i].at.String()
		if len(byRule[at]) == 0 || !strings.HasPrefix(one.Detail, "contributed to") {
			byRule[at] = append(byRule[at], rules[i].mistake(one))
		}
	}
	var about []error
	for _, l := range slices.SortedStableFunc(slices.Values(rules), func(a, b located) int { return cmp.Compare(a.number, b.number) }) {
		at := l.at.String()
		if found, reported := byRule[at]; reported {
			about = append(about, found...)
		} else if l.err != nil {
			about = append(about, fmt.Errorf("%s: %w", l.name(), l.err))
		}
		byRule[at] = nil // the versions of a definition may share a schema
	}
	return append(about, errs...)
}

// mistake returns an error of the API server about a rule.
func (l located) mistake(err *field.Error) error {
	detail := strings.TrimSpace(err.Detail)
	if err.Type == field.ErrorTypeForbidden {
		detail, _, _ = strings.Cut(detail, " (try ")
		detail = fmt.Sprintf("%s: it is %s for one rule: %s", detail, percent(l.cost.Share()), l.cost.Advice)
	}
	return fmt.Errorf("%s: %s", l.name(), detail)
}

// olderMistakes returns what an older API server can't compile, of the rules that the present one compiles.
func (o options) olderMistakes(rules []located) (errs []error) {
	var seen []string
	for _, l := range rules {
		if at := l.at.String(); l.older != nil && l.compiled && !slices.Contains(seen, at) {
			seen = append(seen, at)
			errs = append(errs, fmt.Errorf("%s: Kubernetes %s refuses it: %w", l.name(), o.oldest, l.older))
		}
	}
	return errs
}

// errorOf returns the mistake in a rule or in its message.
func errorOf(result schemacel.CompilationResult) error {
	switch {
	case result.Error != nil:
		return errors.New(strings.TrimSpace(result.Error.Detail))
	case result.MessageExpressionError != nil:
		return errors.New(strings.TrimSpace(result.MessageExpressionError.Detail))
	default:
		return nil
	}
}
