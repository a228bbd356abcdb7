package dryrun

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const changedOnceSet = "may not change once set"

// serviceChanges say that a Service keeps the addresses, families and class that it was given, or that the server has
// found for it. Nothing is found in memory: a Service without an address has another than any that is asked for later.
// Only who sets both fields for addresses, as a server does that finds one, gives a Service its first.
func serviceChanges(u update) field.ErrorList {
	before, after := service(u.live), service(u.next)
	var problems field.ErrorList
	if before.kind() != "ExternalName" && after.kind() != "ExternalName" {
		problems = append(problems, addressChanges(before, after)...)
		problems = append(problems, familyChanges(before, after)...)
	}
	if before.kind() == "LoadBalancer" && after.kind() == "LoadBalancer" && u.changes("spec.loadBalancerClass") {
		problems = append(problems, field.Invalid(specPath.Child("loadBalancerClass"),
			valueAt(u.next, "spec.loadBalancerClass"), changedOnceSet))
	}
	const port = "spec.healthCheckNodePort"
	if before.isLocal() && after.isLocal() && !isZeroValue(valueAt(u.next, port)) && u.changes(port) {
		problems = append(problems, field.Forbidden(field.NewPath(port), fieldImmutable))
	}
	return problems
}

type service map[string]any

func (s service) kind() string {
	if kind := textAt(s, "spec.type"); kind != "" {
		return kind
	}
	return "ClusterIP"
}

// addresses are those that are asked for; nil: those that the server finds.
func (s service) addresses() []any {
	if all := listAt(s, "spec.clusterIPs"); len(all) > 0 {
		return all
	}
	if one := textAt(s, "spec.clusterIP"); one != "" {
		return []any{one}
	}
	return nil
}

func (s service) isHeadless() bool {
	addresses := s.addresses()
	return len(addresses) == 1 && alike(addresses[0], "None")
}

// isLocal reports whether a load balancer asks the nodes whether they run a Pod of the Service.
func (s service) isLocal() bool {
	return s.kind() == "LoadBalancer" && textAt(s, "spec.externalTrafficPolicy") == "Local"
}

func addressChanges(before, after service) field.ErrorList {
	live, next := before.addresses(), after.addresses()
	if before.isHeadless() && after.isHeadless() || len(next) == 0 {
		return nil // a server keeps the addresses that an update leaves out
	}
	if len(live) == 0 && len(listAt(after, "spec.clusterIPs")) > 0 && !after.isHeadless() {
		return nil
	}
	at := specPath.Child("clusterIPs")
	var problems field.ErrorList
	for i := range next {
		found := i < len(live) && alike(live[i], next[i])
		if !found && (i == 0 || len(live) == len(next)) {
			problems = append(problems, field.Invalid(at.Index(i), next, changedOnceSet))
		}
	}
	if len(live) > len(next) && textAt(after, "spec.ipFamilyPolicy") != "SingleStack" {
		problems = append(problems, field.Invalid(specPath.Child("ipFamilyPolicy"), valueAt(after, "spec.ipFamilyPolicy"),
			"must be set to 'SingleStack' when releasing the secondary clusterIP"))
	}
	return problems
}

func familyChanges(before, after service) field.ErrorList {
	live, next := listAt(before, "spec.ipFamilies"), listAt(after, "spec.ipFamilies")
	if before.isHeadless() != after.isHeadless() || after.isHeadless() || len(live) == 0 || len(next) == 0 {
		return nil
	}
	at := specPath.Child("ipFamilies").Index(0)
	var problems field.ErrorList
	for i := range min(len(live), len(next)) {
		if !alike(live[i], next[i]) && (i == 0 || len(live) == len(next)) {
			problems = append(problems, field.Invalid(at, next, changedOnceSet))
		}
	}
	return problems
}
