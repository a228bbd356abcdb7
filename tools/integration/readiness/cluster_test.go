package readiness

// definition defines a kind that no other test has. It isn't served, since nobody needs it.
const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.$namespace.example.test}
spec:
  group: $namespace.example.test
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions:
  - {name: v1, served: false, storage: true, schema: {openAPIV3Schema: {type: object}}}`

var cluster = []story{
	{
		kind: "CustomResourceDefinition.apiextensions.k8s.io", reason: "ready when its names are its own and it is established",
		manifest: definition, states: becomes,
		agrees:  wait("condition=Established", "crd/things.$namespace.example.test"),
		follows: wait("condition=NamesAccepted", "crd/things.$namespace.example.test"),
	},
	{
		kind: "APIService.apiregistration.k8s.io", reason: "one without a server of its own is available from the first moment",
		manifest: `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.$namespace.example.test}
spec: {group: $namespace.example.test, version: v1, groupPriorityMinimum: 10, versionPriority: 10}`,
		states: is, agrees: wait("condition=Available", "apiservice/v1.$namespace.example.test"),
	},
	{
		kind: "Namespace", reason: "active from the first moment",
		manifest: `
apiVersion: v1
kind: Namespace
metadata: {name: $namespace-own}`,
		states: is, agrees: wait("jsonpath={.status.phase}=Active", "namespace/$namespace-own"),
	},
	{
		kind: "Node", reason: "ready when its kubelet says so; its taint keeps the Pods of other tests away",
		manifest: `
apiVersion: v1
kind: Node
metadata: {name: $namespace}
spec: {taints: [{key: operkit.dev/own, effect: NoSchedule}]}`,
		states: becomes, agrees: wait("condition=Ready", "node/$namespace"),
	},
	{
		kind: "PriorityClass.scheduling.k8s.io", reason: "it has no status",
		manifest: `
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: $namespace}
value: 1`,
		states: is, agrees: wait("create", "priorityclass/$namespace"),
	},
	{
		kind: "ValidatingWebhookConfiguration.admissionregistration.k8s.io", reason: "it has no status",
		manifest: `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: $namespace}`,
		states: is, agrees: wait("create", "validatingwebhookconfiguration/$namespace"),
	},
	{
		kind: "MutatingWebhookConfiguration.admissionregistration.k8s.io", reason: "it has no status",
		manifest: `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: $namespace}`,
		states: is, agrees: wait("create", "mutatingwebhookconfiguration/$namespace"),
	},
}
