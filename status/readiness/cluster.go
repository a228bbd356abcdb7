package readiness

import "cmp"

// namespace is the row Namespace.
func namespace(s subject) Result {
	switch s.phase() {
	case "Active":
		return ready("NamespaceActive", "the namespace is active", statusPhase)
	case "Terminating":
		return terminating(cmp.Or(s.blockers(), "the namespace is being deleted"), statusPhase)
	}
	return s.otherPhase()
}

// node is the row Node.
func node(s subject) Result {
	v := s.condition("Ready")
	if !v.holds() {
		return waits("Ready", v, "NodeNotReady", "the node isn't ready yet")
	}
	return ready(cmp.Or(v.reason, "NodeReady"), cmp.Or(v.message, "the node is ready"), field("Ready"))
}

// definition is the row apiextensions.k8s.io/CustomResourceDefinition. It ignores NonStructuralSchema: a schema that
// isn't structural is served too.
func definition(s subject) Result {
	names, established := s.condition("NamesAccepted"), s.condition("Established")
	if names.isFalse() {
		return failed(cmp.Or(names.reason, "NamesNotAccepted"), cmp.Or(names.message, "the names are taken"), field("NamesAccepted"))
	}
	if established.isFalse() && established.reason != "Installing" {
		return failed(cmp.Or(established.reason, "NotEstablished"), cmp.Or(established.message, "the definition isn't established"), field("Established"))
	}
	if !names.holds() {
		return s.unmet("NamesAccepted", names, "NamesNotAccepted", "the names aren't accepted yet", "Established", established)
	}
	if !established.holds() {
		return waits("Established", established, "NotEstablished", "the definition isn't established yet")
	}
	return ready("Established", "the definition is established", field("Established"), field("NamesAccepted"))
}

// apiService is the row apiregistration.k8s.io/APIService.
func apiService(s subject) Result {
	available := s.condition("Available")
	if !available.holds() {
		return waits("Available", available, "NotAvailable", "the API isn't available yet")
	}
	return ready("Available", cmp.Or(available.message, "the API is available"), field("Available"))
}
