package known_test

import (
	"testing"

	"github.com/operkit/operkit/status/readiness"
)

func TestGateway(t *testing.T) {
	t.Parallel()
	accepted, programmed := is("Accepted", "True", "Accepted", ""), is("Programmed", "True", "Programmed", "2 addresses")
	listener := func(all ...string) string {
		return `"listeners":[{"name":"https",` + conditions("", all...)[1:] + "],"
	}
	good := listener(is("Accepted", "True", "Accepted", ""), is("ResolvedRefs", "True", "ResolvedRefs", ""), is("Programmed", "True", "Programmed", ""))
	noSecret := listener(is("ResolvedRefs", "False", "InvalidCertificateRef", "Secret shop-tls not found"), is("Programmed", "False", "Invalid", ""))
	run(t, byName, "gateway.networking.k8s.io/v1", "Gateway", []cell{
		{name: "known 6: without a status", ageless: true, state: readiness.InProgress, reason: "ConditionMissing", message: "the Gateway's controller hasn't handled"},
		{name: "known 6: with the defaults of its definition", ageless: true, status: conditions("", conditionOf("Accepted", "Unknown", "Pending", "Waiting for controller", 0), conditionOf("Programmed", "Unknown", "Pending", "Waiting for controller", 0)), state: readiness.InProgress, reason: "Pending", message: "Waiting for controller"},
		{name: "known 2: programmed for an older generation", status: conditions("", accepted, old("Programmed", "True", "Programmed")), state: readiness.InProgress, reason: "ConditionOutdated", message: "Programmed"},
		{name: "known 2: refused for an older generation", status: conditions("", old("Accepted", "False", "Invalid")), state: readiness.InProgress, reason: "ConditionOutdated"},
		{name: "known 6: no address yet", status: conditions(good, accepted, is("Programmed", "False", "AddressNotAssigned", "no addresses")), state: readiness.InProgress, reason: "AddressNotAssigned", message: "no addresses"},
		{name: "known 6: accepted only", status: conditions("", accepted), state: readiness.InProgress, reason: "ConditionMissing"},
		{name: "known 6: programmed", status: conditions(good, accepted, programmed), state: readiness.Ready, reason: "Programmed", message: "2 addresses"},
		{name: "known 6: programmed, of an implementation that lists no listeners", status: conditions("", accepted, programmed), state: readiness.Ready, reason: "Programmed"},
		{name: "known 6: refused", status: conditions("", is("Accepted", "False", "InvalidParameters", "no such parameters")), state: readiness.Failed, reason: "InvalidParameters", message: "no such parameters"},
		{name: "known 6: an address that can't be used", status: conditions("", accepted, is("Programmed", "False", "AddressNotUsable", "taken")), state: readiness.Failed, reason: "AddressNotUsable", message: "taken"},
		{name: "known 6: a listener waits for its certificate", status: conditions(noSecret, is("Accepted", "True", "ListenersNotValid", ""), programmed), state: readiness.InProgress, reason: "InvalidCertificateRef", message: "listener https: Secret shop-tls not found"},
		{name: "known 6: all listeners wait for certificates", status: conditions(noSecret, is("Accepted", "False", "ListenersNotValid", "")), state: readiness.InProgress, reason: "InvalidCertificateRef", message: "Secret shop-tls"},
		{name: "known 6: a listener on a taken port", status: conditions(listener(is("Accepted", "False", "PortUnavailable", "port 443 is taken")), is("Accepted", "True", "ListenersNotValid", ""), programmed), state: readiness.Failed, reason: "PortUnavailable", message: "listener https: port 443 is taken"},
		{name: "known 6: a listener that conflicts", status: conditions(listener(is("Conflicted", "True", "HostnameConflict", "twice")), accepted, programmed), state: readiness.Failed, reason: "HostnameConflict"},
		{name: "known 6: a listener without permission", status: conditions(listener(is("ResolvedRefs", "False", "RefNotPermitted", "no ReferenceGrant")), accepted, programmed), state: readiness.Failed, reason: "RefNotPermitted", message: "no ReferenceGrant"},
		{name: "known 6: a listener isn't programmed yet", status: conditions(listener(is("Programmed", "False", "Pending", "")), accepted, programmed), state: readiness.InProgress, reason: "Pending", message: "listener https: the condition Programmed is not True"},
	})
}

func TestRoute(t *testing.T) {
	t.Parallel()
	const spec = `{"parentRefs":[{"name":"web"}]}`
	answer := func(ref string, all ...string) string {
		return `{"parentRef":` + ref + `,"controllerName":"example.com/gateway",` + conditions("", all...)[1:]
	}
	parents := func(all ...string) string {
		list := ""
		for i, each := range all {
			if i > 0 {
				list += ","
			}
			list += each
		}
		return `{"parents":[` + list + "]}"
	}
	accepted, resolved := is("Accepted", "True", "Accepted", "route is accepted"), is("ResolvedRefs", "True", "ResolvedRefs", "")
	const web = `{"group":"gateway.networking.k8s.io","kind":"Gateway","name":"web"}`
	two := `{"parentRefs":[{"name":"web"},{"name":"inner","namespace":"mesh","sectionName":"http","port":80}]}`
	run(t, byName, "gateway.networking.k8s.io/v1", "HTTPRoute", []cell{
		{name: "known 7: without a status it names its Gateway", spec: spec, ageless: true, state: readiness.InProgress, reason: "ParentMissing", message: "Gateway shop/web hasn't answered yet"},
		{name: "known 2: accepted for an older generation", spec: spec, status: parents(answer(web, old("Accepted", "True", "Accepted"), old("ResolvedRefs", "True", "ResolvedRefs"))), state: readiness.InProgress, reason: "ConditionOutdated", message: "Gateway shop/web"},
		{name: "known 2: refused for an older generation", spec: spec, status: parents(answer(web, old("Accepted", "False", "NoMatchingParent"))), state: readiness.InProgress, reason: "ConditionOutdated"},
		{name: "known 7: pending", spec: spec, status: parents(answer(web, is("Accepted", "False", "Pending", ""))), state: readiness.InProgress, reason: "Pending", message: "Gateway shop/web: "},
		{name: "known 7: unknown", spec: spec, status: parents(answer(web, is("Accepted", "Unknown", "", ""))), state: readiness.InProgress, reason: "NotAccepted"},
		{name: "known 7: accepted", spec: spec, status: parents(answer(web, accepted, resolved)), state: readiness.Ready, reason: "Accepted", message: "Gateway shop/web: route is accepted"},
		{name: "known 7: the namespace of the route may be named", spec: `{"parentRefs":[{"name":"web","namespace":"shop"}]}`, status: parents(answer(web, accepted)), state: readiness.Ready, reason: "Accepted"},
		{name: "known 7: an answer of a controller that is gone doesn't count", spec: spec, status: parents(answer(web, old("Accepted", "False", "Gone")), answer(web, accepted, resolved)), state: readiness.Ready, reason: "Accepted"},
		{name: "known 7: one of two parents hasn't answered", spec: two, status: parents(answer(web, accepted, resolved)), state: readiness.InProgress, reason: "ParentMissing", message: "Gateway mesh/inner section http hasn't answered yet"},
		{name: "known 7: both parents have", spec: two, status: parents(answer(web, accepted), answer(`{"name":"inner","namespace":"mesh","sectionName":"http","port":80}`, accepted)), state: readiness.Ready, reason: "Accepted"},
		{name: "known 7: a Service of a mesh is another parent than a Gateway", spec: `{"parentRefs":[{"group":"","kind":"Service","name":"web"}]}`, status: parents(answer(web, accepted)), state: readiness.InProgress, reason: "ParentMissing", message: "Service shop/web", ageless: true},
		{name: "known 7: a backend isn't there", spec: spec, status: parents(answer(web, accepted, is("ResolvedRefs", "False", "BackendNotFound", "Service api not found"))), state: readiness.InProgress, reason: "BackendNotFound", message: "Service api not found"},
		{name: "known 7: a backend may not be used", spec: spec, status: parents(answer(web, accepted, is("ResolvedRefs", "False", "RefNotPermitted", "no ReferenceGrant"))), state: readiness.Failed, reason: "RefNotPermitted", message: "no ReferenceGrant"},
		{name: "known 7: refused", spec: spec, status: parents(answer(web, is("Accepted", "False", "NotAllowedByListeners", "other namespaces aren't allowed"))), state: readiness.Failed, reason: "NotAllowedByListeners", message: "Gateway shop/web: other namespaces"},
		{name: "known 7: some rules are dropped", spec: spec, status: parents(answer(web, accepted, resolved, is("PartiallyInvalid", "True", "UnsupportedValue", "Dropped Rule 2"))), state: readiness.Ready, reason: "UnsupportedValue", message: "Dropped Rule 2", remark: true},
		{name: "known 7: no parents at all", spec: `{}`, ageless: true, state: readiness.Ready, reason: "NoParents", remark: true, message: "no parents"},
	})
}
