package dryrun

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// nodeChanges say that a Node's addresses for Pods and its provider's name for it can be set once.
func nodeChanges(u update) field.ErrorList {
	var problems field.ErrorList
	before, after := podCIDRs(u.live), podCIDRs(u.next)
	if len(before) > 0 && !alike(before, after) {
		problems = append(problems, field.Forbidden(specPath.Child("podCIDRs"),
			`node updates may not change podCIDR except from "" to valid`))
	}
	if textAt(u.live, "spec.providerID") != "" && u.changes("spec.providerID") {
		problems = append(problems, field.Forbidden(specPath.Child("providerID"),
			`node updates may not change providerID except from "" to valid`))
	}
	if u.changes("spec.externalID") {
		problems = append(problems, field.Forbidden(specPath.Child("externalID"), "may not be updated"))
	}
	return problems
}

// podCIDRs are the addresses that a Node has for Pods. The first stands in a field of its own too, which prevails.
func podCIDRs(node map[string]any) []any {
	all := listAt(node, "spec.podCIDRs")
	if first := textAt(node, "spec.podCIDR"); first != "" && (len(all) == 0 || !alike(all[0], first)) {
		return []any{first}
	}
	return all
}

// quotaChanges say that a quota keeps its scopes, in whatever order.
func quotaChanges(u update) field.ErrorList {
	before, after := listAt(u.live, "spec.scopes"), listAt(u.next, "spec.scopes")
	within := func(some, all []any) bool {
		return !slices.ContainsFunc(some, func(scope any) bool {
			return !slices.ContainsFunc(all, func(other any) bool { return alike(scope, other) })
		})
	}
	if within(before, after) && within(after, before) {
		return nil
	}
	return field.ErrorList{field.Invalid(specPath.Child("scopes"), after, fieldImmutable)}
}

// cidrChanges say that a range of addresses for Services stays, and that one may get a second one of the other family.
func cidrChanges(u update) field.ErrorList {
	cidrs := specPath.Child("cidrs")
	before, after := listAt(u.live, "spec.cidrs"), listAt(u.next, "spec.cidrs")
	if len(before) != len(after) && (len(before) != 1 || len(after) != 2) {
		return field.ErrorList{field.Invalid(cidrs, after, fieldImmutable)}
	}
	var problems field.ErrorList
	for i := range before {
		if !alike(before[i], after[i]) {
			problems = append(problems, field.Invalid(cidrs.Index(i), after[i], fieldImmutable))
		}
	}
	return problems
}

const missingVersion = "missing from spec.versions; %[1]s was previously a storage version, and must remain in " +
	"spec.versions until a storage migration ensures no data remains persisted in %[1]s and removes %[1]s from " +
	"status.storedVersions"

// storedVersionChanges say that a version stays as long as objects may be stored in it.
func storedVersionChanges(u update) field.ErrorList {
	var problems field.ErrorList
	stored := listAt(u.live, "status.storedVersions")
	for i, version := range stored {
		if _, there := named(u.next, "spec.versions")[fmt.Sprint(version)]; !there {
			problems = append(problems, field.Invalid(field.NewPath("status", "storedVersions").Index(i), version,
				fmt.Sprintf(missingVersion, version)))
		}
	}
	return problems
}
