package controller

import (
	"errors"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/tools/hooks/internal/definition"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// strategies are the strategies by the methods of definitions.
var strategies = map[string]desired.Strategy{
	"": desired.OnDelete, "OnDelete": desired.OnDelete, "InPlace": desired.InPlace, "Recreate": desired.Recreate,
	"RollingInPlace": desired.RollingInPlace, "RollingRecreate": desired.RollingRecreate,
}

// children returns the options for the children, and notes their kinds.
func (s *syncer) children(served []deploy.ServedKind) (options []desired.Option, err error) {
	var errs []error
	for _, rule := range s.definition.Children {
		kind, err := kindOf(rule.Resource, served)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s.kinds = append(s.kinds, kind.Kind)
		var more []desired.ChildOption
		if deploy.Protected(kind.Kind.GroupKind()) { // what a hook doesn't return is deleted, whatever it holds
			more = append(more, desired.Deletable())
		}
		method := ""
		if rule.Update != nil {
			method = rule.Update.Method
			for _, check := range rule.Update.Checks.Conditions {
				more = append(more, healthy(check))
			}
		}
		options = append(options, desired.Child(kind.Kind, strategies[method], more...))
	}
	return options, errors.Join(errs...)
}

// healthy returns the option for a check.
func healthy(check definition.ConditionCheck) desired.ChildOption {
	var status metav1.ConditionStatus
	if check.Status != nil {
		status = metav1.ConditionStatus(*check.Status)
	}
	if check.Reason == nil {
		return desired.Healthy(check.Type, status)
	}
	return desired.Healthy(check.Type, status, *check.Reason)
}
