package dryrun

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

var specPath = field.NewPath("spec")

// jobRules are the rules for Jobs. While a Job is suspended, scheduling and resources of its Pods may change.
var jobRules = []rule{
	{at: "spec.completions", when: func(u update) bool { return !isIndexed(u) }},
	{
		at: "spec.completions",
		when: func(u update) bool {
			completions, parallelism := valueAt(u.next, "spec.completions"), valueAt(u.next, "spec.parallelism")
			return isIndexed(u) && completions != nil && !alike(completions, orOne(parallelism))
		},
		says: "can only be modified in tandem with spec.parallelism",
	},
	{at: "spec.selector"},
	{at: "spec.template", when: func(u update) bool { return !isHeld(u) }},
	{
		at: "spec.template.spec",
		but: []string{
			"affinity.nodeAffinity", "nodeSelector", "schedulingGates", "tolerations",
			"containers[*].resources", "initContainers[*].resources",
		},
		when: isHeld,
	},
	{at: "spec.completionMode"},
	{at: "spec.podFailurePolicy"},
	{at: "spec.backoffLimitPerIndex"},
	{at: "spec.managedBy"},
	{at: "spec.successPolicy"},
}

func isIndexed(u update) bool { return textAt(u.next, "spec.completionMode") == "Indexed" }

func orOne(value any) any {
	if value == nil {
		return int64(1)
	}
	return value
}

// isHeld reports whether a Job is suspended and has no running Pods.
func isHeld(u update) bool {
	return valueAt(u.live, "spec.suspend") == true && isZeroValue(valueAt(u.live, "status.active")) &&
		(valueAt(u.live, "status.startTime") == nil || hasCondition(u.live, "Suspended"))
}

const podFixed = "pod updates may not change fields other than " +
	"`spec.containers[*].image`,`spec.initContainers[*].image`," +
	"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

// podChanges checks that only the few mutable fields of a Pod's spec change.
func podChanges(u update) field.ErrorList {
	for _, list := range []string{"containers", "initContainers"} {
		if len(listAt(u.live, "spec."+list)) != len(listAt(u.next, "spec."+list)) {
			return field.ErrorList{field.Forbidden(specPath.Child(list), "pod updates may not add or remove containers")}
		}
	}
	problems, stop := deadlineChanges(u)
	if stop {
		return problems
	}
	if u.drops("spec.tolerations", "tolerationSeconds") {
		problems = append(problems, field.Forbidden(specPath.Child("tolerations"),
			"existing toleration can not be modified except its tolerationSeconds"))
	}
	problems = append(problems, gateChanges(u)...)
	but := []string{
		"containers[*].image", "initContainers[*].image", "activeDeadlineSeconds", "schedulingGates", "tolerations",
	}
	if len(listAt(u.live, "spec.schedulingGates")) > 0 {
		but = append(but, "nodeSelector", "affinity.nodeAffinity")
		problems = append(problems, gatedChanges(u)...)
	}
	if u.changes("spec", but...) {
		problems = append(problems, field.Forbidden(specPath, podFixed))
	}
	return problems
}

// deadlineChanges checks that a Pod's deadline is only set or shortened. stop reports whether a server makes no other
// checks of the Pod after this error.
func deadlineChanges(u update) (problems field.ErrorList, stop bool) {
	at := specPath.Child("activeDeadlineSeconds")
	live, wasSet := valueAt(u.live, at.String()).(int64)
	next, isSet := valueAt(u.next, at.String()).(int64)
	switch {
	case isSet && (next < 0 || next > math.MaxInt32):
		return field.ErrorList{field.Invalid(at, next, "must be between 0 and 2147483647, inclusive")}, true
	case isSet && wasSet && live < next:
		return field.ErrorList{field.Invalid(at, next, "must be less than or equal to previous value")}, true
	case wasSet && !isSet:
		return field.ErrorList{field.Invalid(at, nil, "must not update from a positive integer to nil value")}, false
	}
	return nil, false
}

// drops reports whether an item of a list was removed, or was changed in a field other than the field but.
func (u update) drops(list, but string) bool {
	plain := func(items []any) []any {
		var out []any
		for _, item := range items {
			content, _ := item.(map[string]any)
			rest := maps.Clone(content)
			delete(rest, but)
			out = append(out, rest)
		}
		return out
	}
	next := plain(listAt(u.next, list))
	return slices.ContainsFunc(plain(listAt(u.live, list)), func(item any) bool {
		return !slices.ContainsFunc(next, func(other any) bool { return alike(item, other) })
	})
}

// gateChanges checks that scheduling gates are only removed.
func gateChanges(u update) field.ErrorList {
	var problems field.ErrorList
	live := listAt(u.live, "spec.schedulingGates")
	for i, gate := range listAt(u.next, "spec.schedulingGates") {
		if !slices.ContainsFunc(live, func(other any) bool { return alike(gate, other) }) {
			content, _ := gate.(map[string]any)
			problems = append(problems, field.Forbidden(specPath.Child("schedulingGates").Index(i).Child("name"),
				fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", textAt(content, "name"))))
		}
	}
	return problems
}

// gatedChanges checks that the node selection of a Pod with scheduling gates is only narrowed.
func gatedChanges(u update) field.ErrorList {
	var problems field.ErrorList
	next := mapAt(u.next, "spec.nodeSelector")
	for key, value := range mapAt(u.live, "spec.nodeSelector") {
		if !alike(next[key], value) {
			problems = append(problems, field.Invalid(specPath.Child("nodeSelector"), next,
				"only additions to spec.nodeSelector are allowed (no mutations or deletions)"))
			break
		}
	}
	const terms = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
	live, wanted := listAt(u.live, terms), listAt(u.next, terms)
	if len(live) > 0 && len(live) != len(wanted) {
		return append(problems, field.Invalid(field.NewPath(terms), wanted,
			"no additions/deletions to non-empty NodeSelectorTerms list are allowed"))
	}
	for i := range live {
		if !onlyAdds(live[i], wanted[i]) {
			problems = append(problems, field.Invalid(field.NewPath(terms).Index(i), wanted[i],
				"only additions are allowed (no mutations or deletions)"))
		}
	}
	return problems
}

// onlyAdds reports whether next, a node selector term, begins with the requirements of live.
func onlyAdds(live, next any) bool {
	before, _ := live.(map[string]any)
	after, _ := next.(map[string]any)
	if len(before) == 0 {
		return len(after) == 0
	}
	for _, list := range []string{"matchExpressions", "matchFields"} {
		have, want := listAt(before, list), listAt(after, list)
		if len(want) < len(have) || !alike(have, want[:len(have)]) {
			return false
		}
	}
	return true
}
