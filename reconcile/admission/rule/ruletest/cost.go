package ruletest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/operkit/operkit/reconcile/admission/rule"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
)

// Cost is what the API server estimates a rule of a definition to cost at most.
type Cost struct {
	// Version is the version of the definition.
	Version string
	// Rule is the rule.
	Rule rule.Rule
	// Estimate is the cost of the rule at all places where it is evaluated in one object, of RuleLimit. With
	// math.MaxUint64 it has no limit.
	Estimate uint64
	// Message is the cost of the rule's MessageCEL, of RuleLimit.
	Message uint64
	// Advice is what makes the rule cheaper.
	Advice string
}

// Share returns the part of RuleLimit that the rule or its message costs: 1 is the limit.
func (c Cost) Share() float64 { return float64(max(c.Estimate, c.Message)) / RuleLimit }

// String returns the cost in a line.
func (c Cost) String() string {
	return costLine(max(c.Estimate, c.Message), RuleLimit, nameOf(c.Rule))
}

// Costs are the costs of the rules of a definition.
type Costs []Cost

// Total returns the sum of a version's costs, of DefinitionLimit.
func (c Costs) Total(version string) (total uint64) {
	for _, one := range c {
		if one.Version == version {
			total = plus(total, plus(one.Estimate, one.Message))
		}
	}
	return total
}

// String returns a line for each rule, the most expensive ones first, and a line for each version's total.
func (c Costs) String() string {
	sorted := slices.Clone(c)
	slices.SortStableFunc(sorted, func(a, b Cost) int { return cmp.Compare(b.Share(), a.Share()) })
	lines := make([]string, 0, len(c)+1)
	var versions []string
	for _, one := range sorted {
		if lines = append(lines, one.String()); !slices.Contains(versions, one.Version) {
			versions = append(versions, one.Version)
		}
	}
	slices.Sort(versions)
	for _, version := range versions {
		lines = append(lines, costLine(c.Total(version), DefinitionLimit, "all rules of version "+version))
	}
	return strings.Join(lines, "\n")
}

// costLine returns a cost, its limit and what costs it.
func costLine(cost, limit uint64, of string) string {
	return fmt.Sprintf("%s (%s): %s", number(cost), percent(float64(cost)/float64(limit)), of)
}

// number returns a cost, which may have no limit.
func number(cost uint64) string {
	if cost == math.MaxUint64 {
		return "unlimited"
	}
	return strconv.FormatUint(cost, 10)
}

// percent returns a share of a limit for people.
func percent(share float64) string {
	switch {
	case share > 100:
		return "more than 100 times the limit"
	case share > 0 && share < 0.00001:
		return "less than 0.001% of the limit"
	}
	return fmt.Sprintf("%.3g%% of the limit", share*100)
}

// costOf returns the estimate for a compiled rule, as the API server computes it.
func costOf(compiled schemacel.CompilationResult, context *validation.CELSchemaContext) uint64 {
	if context.MaxCardinality != nil {
		return times(compiled.MaxCost, *context.MaxCardinality)
	}
	return times(compiled.MaxCost, compiled.MaxCardinality)
}

func times(a, b uint64) uint64 {
	if a != 0 && math.MaxUint64/a < b {
		return math.MaxUint64
	}
	return a * b
}

func plus(a, b uint64) uint64 {
	if math.MaxUint64-a < b {
		return math.MaxUint64
	}
	return a + b
}
