package readiness

import (
	"cmp"
	"github.com/operkit/operkit/status/internal/condition"
)

// service is the row Service.
func service(s subject) Result {
	kind := cmp.Or(condition.Text(s.spec, "type"), "ClusterIP")
	if kind == "LoadBalancer" && !s.hasAddress() {
		result := inProgress("NoAddress", "the load balancer has no address yet", loadBalancer, "spec.type")
		return s.withFault(result)
	}
	if kind != "ExternalName" && condition.Text(s.spec, "clusterIP") == "" {
		return inProgress("NoClusterIP", "the Service has no cluster IP yet", "spec.clusterIP", "spec.type")
	}
	return ready("ServiceReady", "the Service is ready", "spec.type")
}

// ingress is the row networking.k8s.io/Ingress.
func ingress(s subject) Result {
	if s.checker.IngressNeedsAddress && !s.hasAddress() {
		return s.withFault(inProgress("NoAddress", "the Ingress has no address yet", loadBalancer))
	}
	return present()
}

const loadBalancer = "status.loadBalancer.ingress"

// hasAddress reports whether the first load balancer has an IP or a host name.
func (s *subject) hasAddress() bool {
	addresses, _ := condition.Map(s.status, "loadBalancer")["ingress"].([]any)
	if len(addresses) == 0 {
		return false
	}
	first, _ := addresses[0].(map[string]any)
	return condition.Text(first, "ip") != "" || condition.Text(first, "hostname") != ""
}
