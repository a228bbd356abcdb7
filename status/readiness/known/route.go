package known

import (
	"fmt"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/readiness"
)

// parent identifies a parent of a route.
type parent struct {
	group, kind, namespace, name, section string
	port                                  int64
}

func (p parent) String() string {
	words := p.kind + " " + p.namespace + "/" + p.name
	if p.section != "" {
		words += " section " + p.section
	}
	return words
}

func (o object) parent(ref map[string]any) parent {
	port, _ := condition.Integer(ref["port"])
	return parent{
		group: text(ref, "group", gatewayGroup), kind: text(ref, "kind", "Gateway"),
		namespace: text(ref, "namespace", condition.Text(o.metadata, "namespace")), name: condition.Text(ref, "name"),
		section: condition.Text(ref, "sectionName"), port: port,
	}
}

// route is the row of the Gateway API's HTTPRoute. Each controller writes an element of status.parents for each parent
// of the spec that it knows. Every parent has to have one with Accepted True, and ResolvedRefs not False. Elements
// whose conditions are all about an older generation don't count: their controller may be gone. A missing backend is
// waited for.
//
// https://github.com/kubernetes-sigs/gateway-api/blob/main/apis/v1/shared_types.go
func route(o object) readiness.Result {
	const path = "status.parents"
	wanted := maps(o.spec["parentRefs"])
	if len(wanted) == 0 {
		return remark("NoParents", "the route has no parents, so it serves nothing", "spec.parentRefs")
	}
	var results []readiness.Result
	for _, ref := range wanted {
		want := o.parent(ref)
		var found []readiness.Result
		isOld := false
		for _, element := range maps(o.status["parents"]) {
			if o.parent(condition.Map(element, "parentRef")) != want {
				continue
			}
			result, isFresh := o.admitted(condition.ListOf(element), fmt.Sprintf("%s[%s].", path, want.name))
			if !isFresh {
				isOld = true
				continue
			}
			result.Message = want.String() + ": " + result.Message
			found = append(found, result)
		}
		switch {
		case len(found) > 0:
			results = append(results, worst(found))
		case isOld:
			results = append(results, inProgress("ConditionOutdated", want.String()+": its answer is for an older generation of the route", path))
		default:
			results = append(results, inProgress("ParentMissing", want.String()+" hasn't answered yet: it isn't there, or "+o.controller+" hasn't handled the object", path))
		}
	}
	return worst(results)
}

// admitted judges an element of status.parents. It returns false if no condition is about the present generation.
func (o object) admitted(conditions []any, path string) (readiness.Result, bool) {
	accepted, resolved := o.conditionIn(conditions, path, "Accepted"), o.conditionIn(conditions, path, "ResolvedRefs")
	partly := o.conditionIn(conditions, path, "PartiallyInvalid")
	isFresh := accepted.present && !accepted.outdated || resolved.present && !resolved.outdated
	switch {
	case !accepted.holds():
		return accepted.unless("Pending"), isFresh
	case resolved.present && !resolved.holds():
		return resolved.unless("BackendNotFound"), isFresh
	case partly.holds():
		result := partly.done()
		result.Remark = true
		return result, isFresh
	}
	return accepted.done(), isFresh
}
