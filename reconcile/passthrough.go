package reconcile

// passedThrough are the annotations that a resource hands down: how it is configured, how its reconciles log,
// and whether they rest. Temporary patches and leases are a resource's own.
var passedThrough = []string{"config-defaults", "log-default-level", "log-filters", "log-json", "log-thread-id", "pause-execution"}

// Passthrough returns the annotations that a custom resource which is itself rendered from this one should
// carry (spec: reconcile 47), those of them that this one has: config-defaults, log-default-level,
// log-filters, log-json, log-thread-id and pause-execution, under the operator's domain. The map is the
// caller's own.
func (s *Session) Passthrough() map[string]string {
	annotations := s.resource.GetAnnotations()
	passed := map[string]string{}
	for _, name := range passedThrough {
		key := s.manager.KeyDomain() + "/" + name
		if value, ok := annotations[key]; ok {
			passed[key] = value
		}
	}
	return passed
}
