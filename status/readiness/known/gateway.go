package known

import (
	"fmt"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/readiness"
)

const gatewayGroup = "gateway.networking.k8s.io"

// gateway is the row of the Gateway API's Gateway: Accepted and Programmed have to be True, and no listener may have a
// problem. Both conditions begin as Unknown with the reason Pending, by a default of the CRD. A listener whose
// certificate isn't there waits for it.
//
// https://github.com/kubernetes-sigs/gateway-api/blob/main/apis/v1/gateway_types.go
func gateway(o object) readiness.Result {
	accepted, programmed := o.condition("Accepted"), o.condition("Programmed")
	listener, has := o.listeners()
	switch {
	case has && listener.State == readiness.Failed && !accepted.outdated:
		return listener
	case has && !listener.Ready() && accepted.isFalse() && accepted.reason == "ListenersNotValid":
		return listener
	case !accepted.holds():
		return accepted.unless("Pending", "NotReconciled", "NoResources")
	case has && !listener.Ready():
		return listener
	case !programmed.holds():
		return programmed.unless("Pending", "NoResources", "AddressNotAssigned")
	}
	return programmed.done()
}

// listeners returns the worst result of the listeners in the status.
func (o object) listeners() (readiness.Result, bool) {
	var results []readiness.Result
	for _, listener := range maps(o.status["listeners"]) {
		name := text(listener, "name", "")
		result := o.listener(condition.ListOf(listener), fmt.Sprintf("status.listeners[%s].", name))
		result.Message = "listener " + name + ": " + result.Message
		results = append(results, result)
	}
	if len(results) == 0 {
		return readiness.Result{}, false
	}
	return worst(results), true
}

func (o object) listener(conditions []any, path string) readiness.Result {
	see := func(kind string) view { return o.conditionIn(conditions, path, kind) }
	if accepted := see("Accepted"); accepted.isFalse() {
		return accepted.unless("Pending")
	}
	if conflicted := see("Conflicted"); conflicted.holds() {
		return conflicted.fails()
	}
	if resolved := see("ResolvedRefs"); resolved.isFalse() {
		return resolved.unless("InvalidCertificateRef")
	}
	programmed := see("Programmed")
	if programmed.present && !programmed.holds() {
		return programmed.unless("Pending")
	}
	return programmed.done()
}
