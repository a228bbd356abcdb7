package engine

import (
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired/internal/answer"
	"github.com/operkit/operkit/reconcile/desired/internal/plan"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// strategies are the strategies of package deploy that carry out those of this package.
var strategies = map[plan.Strategy]deploy.Strategy{
	plan.OnDelete: deploy.OnDelete, plan.InPlace: deploy.ServerSideApply, plan.Replace: deploy.Replace,
	plan.Recreate: deploy.RecreateOnChange, plan.RollingInPlace: deploy.ServerSideApply, plan.RollingRecreate: deploy.RecreateOnChange,
}

// Knows reports whether a strategy exists.
func Knows(strategy plan.Strategy) bool {
	_, known := strategies[strategy]
	return known
}

// recreates reports whether a strategy deletes children and creates them again.
func recreates(strategy plan.Strategy) bool { return strategies[strategy] == deploy.RecreateOnChange }

// strategyOf returns the strategy of a child: the declared one, or that of its annotation, by which package deploy
// applies the child. A child that is rolled stays in the roll, unless it is left alone. isIgnored: nothing is done with
// the child, whether it exists or not.
func (p *pass) strategyOf(child answer.Child) (strategy plan.Strategy, isIgnored bool) {
	declared := p.children[child.Ref.Kind].Strategy
	named, isAnnotated, err := unstructured.NestedString(child.Object.Object, "metadata", "annotations", p.strategyKey)
	if err == nil && !isAnnotated {
		return declared, false
	}
	switch deploy.Strategy(named) {
	case deploy.Ignore:
		return plan.OnDelete, true
	case deploy.OnDelete, deploy.CreateOnly:
		return plan.OnDelete, false
	case deploy.ServerSideApply:
		return inRoll(declared, plan.InPlace, plan.RollingInPlace), false
	case deploy.Replace:
		return inRoll(declared, plan.Replace, plan.RollingInPlace), false
	case deploy.Recreate, deploy.RecreateOrphan, deploy.RecreateProtected, deploy.RecreateOnChange:
		return inRoll(declared, plan.Recreate, plan.RollingRecreate), false
	}
	return plan.InPlace, false // its apply is the error
}

// inRoll returns the strategy for one child of a kind: alone, or rolling if the kind is rolled.
func inRoll(declared, alone, rolling plan.Strategy) plan.Strategy {
	if declared.Rolls() {
		return rolling
	}
	return alone
}
