package readiness

import "testing"

var network = []story{
	{
		kind: "Service", reason: "has its address from the first moment",
		manifest: `
apiVersion: v1
kind: Service
metadata: {name: it}
spec: {ports: [{port: 80}], selector: {app: it}}`,
		states: is, agrees: wait("jsonpath={.spec.clusterIP}", "service/it"),
	},
	{
		kind: "Service", reason: "a headless one needs no address",
		manifest: `
apiVersion: v1
kind: Service
metadata: {name: it}
spec: {clusterIP: None, selector: {app: it}}`,
		states: is, agrees: wait("jsonpath={.spec.clusterIP}=None", "service/it"),
	},
	{
		kind: "Service", reason: "neither does an alias",
		manifest: `
apiVersion: v1
kind: Service
metadata: {name: it}
spec: {type: ExternalName, externalName: elsewhere.example.test}`,
		states: is, agrees: wait("create", "service/it"),
	},
	{
		kind: "Service", reason: "a load balancer waits for an address, which here nobody but the test gives",
		manifest: `
apiVersion: v1
kind: Service
metadata: {name: it}
spec: {type: LoadBalancer, ports: [{port: 80}], selector: {app: it}}`,
		steps: []step{{"NoAddress", func(t *testing.T, w *world) {
			t.Helper()
			w.patch(t, "v1", "Service", "it", "{status: {loadBalancer: {ingress: [{hostname: balancer.example.test}]}}}", "status")
		}}},
		states: becomes, agrees: wait("jsonpath={.status.loadBalancer.ingress[0].hostname}", "service/it"),
	},
	{
		kind: "Ingress.networking.k8s.io", reason: "an address is asked for only by an option",
		manifest: `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: it}
spec: {defaultBackend: {service: {name: it, port: {number: 80}}}}`,
		states: is, agrees: wait("create", "ingress/it"),
	},
	{
		kind: "NetworkPolicy.networking.k8s.io", reason: "nobody writes a status",
		manifest: `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: it}
spec: {podSelector: {}}`,
		states: is, agrees: wait("create", "networkpolicy/it"),
	},
	{
		kind: "EndpointSlice.discovery.k8s.io", reason: "it has no status",
		manifest: `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: it}
addressType: IPv4
endpoints: []`,
		states: is, agrees: wait("create", "endpointslice/it"),
	},
}
