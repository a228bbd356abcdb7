package readiness

// namespace is the row Namespace.
func namespace(s subject) Result {
	switch s.phase() {
	case "Active":
		return ready("NamespaceActive", "the namespace is active", statusPhase)
	case "Terminating":
		return terminating(says(s.blockers(), "the namespace is being deleted"), statusPhase)
	}
	return s.otherPhase()
}

// node is the row Node.
func node(s subject) Result {
	v := s.condition("Ready")
	if !v.holds() {
		return waits("Ready", v, "NodeNotReady", "the node isn't ready yet")
	}
	return ready(says(v.reason, "NodeReady"), says(v.message, "the node is ready"), field("Ready"))
}
