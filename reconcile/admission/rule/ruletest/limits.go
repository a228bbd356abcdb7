package ruletest

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// The limits of the API server, in units of the cost of CEL.
const (
	// RuleLimit limits the estimated cost of a rule in a definition, at all places where it is evaluated in an object.
	RuleLimit = validation.StaticEstimatedCostLimit
	// DefinitionLimit limits the estimated cost of all rules of a version of a definition.
	DefinitionLimit = validation.StaticEstimatedCRDCostLimit
	// CallLimit limits the cost of one evaluation of a rule.
	CallLimit = celconfig.PerCallLimit
	// Budget limits the cost of all evaluations for an object: of all rules of a definition, or of all of a policy.
	Budget = celconfig.RuntimeCELCostBudget
)

// unbounded returns the context of evaluations. They send no requests, and Budget limits their time.
func unbounded() context.Context {
	return context.Background() //nolint:forbidigo // a pure computation of limited length has nothing to cancel
}
