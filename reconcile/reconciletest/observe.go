package reconciletest

// Observe calls observe after each request of the reconcilers, with the request and its result. The cluster already has
// what the request changed. Concurrent requests call it concurrently. It must not send requests of the reconcilers or
// call Harness.RunUntilSettled, Reconcile or Advance. nil is ignored; several observers are called in their order.
func Observe(observe func(call Call)) Option {
	return func(o *options) {
		if observe != nil {
			o.observers = append(o.observers, observe)
		}
	}
}

// observe calls the observers of a test.
func (h *Harness) observe(call Call) {
	for _, observe := range h.options.observers {
		observe(call)
	}
}
