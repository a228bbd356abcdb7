package readiness

var policies = []story{
	{
		kind: "PodDisruptionBudget.policy", reason: "ready when its controller has counted, even to nothing",
		manifest: `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: it}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: it}}}`,
		states: becomes, agrees: wait("jsonpath={.status.observedGeneration}=1", "poddisruptionbudget/it"),
	},
	{
		kind: "HorizontalPodAutoscaler.autoscaling", reason: "ready when it can scale; without metrics it does where scaling is switched off",
		before: []string{`
apiVersion: apps/v1
kind: Deployment
metadata: {name: target}
spec:
  replicas: 0
  selector: {matchLabels: {app: it}}
  template:` + free},
		manifest: `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: it}
spec:
  maxReplicas: 2
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: target}`,
		states: becomes, agrees: wait("condition=AbleToScale", "hpa/it"),
		follows: wait("condition=ScalingActive=False", "hpa/it"),
	},
	{
		kind: "ResourceQuota", reason: "its status counts what is used, which makes it no readier",
		manifest: `
apiVersion: v1
kind: ResourceQuota
metadata: {name: it}
spec: {hard: {pods: 1}}`,
		states: is, agrees: wait("create", "resourcequota/it"),
		follows: wait("jsonpath={.status.used.pods}=0", "resourcequota/it"),
	},
	{
		kind: "LimitRange", reason: "it has no status",
		manifest: `
apiVersion: v1
kind: LimitRange
metadata: {name: it}
spec: {limits: [{type: Pod, max: {cpu: 1}}]}`,
		states: is, agrees: wait("create", "limitrange/it"),
	},
	{
		kind: "Role.rbac.authorization.k8s.io", reason: "it has no status",
		manifest: `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: it}
rules: []`,
		states: is, agrees: wait("create", "role/it"),
	},
	{
		kind: "RoleBinding.rbac.authorization.k8s.io", reason: "it has no status",
		manifest: `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: it}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: it}`,
		states: is, agrees: wait("create", "rolebinding/it"),
	},
	{
		kind: "ClusterRole.rbac.authorization.k8s.io", reason: "it has no status",
		manifest: `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $namespace}
rules: []`,
		states: is, agrees: wait("create", "clusterrole/$namespace"),
	},
	{
		kind: "ClusterRoleBinding.rbac.authorization.k8s.io", reason: "it has no status",
		manifest: `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: $namespace}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: $namespace}`,
		states: is, agrees: wait("create", "clusterrolebinding/$namespace"),
	},
}

// presences are kinds that hold data and nothing else.
var presences = []story{
	{
		kind: "ConfigMap", reason: "it has no status", manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}}",
		states: is, agrees: wait("create", "configmap/it"),
	},
	{
		kind: "Secret", reason: "it has no status", manifest: "{apiVersion: v1, kind: Secret, metadata: {name: it}}",
		states: is, agrees: wait("create", "secret/it"),
	},
	{
		kind: "ServiceAccount", reason: "it has no status", manifest: "{apiVersion: v1, kind: ServiceAccount, metadata: {name: it}}",
		states: is, agrees: wait("create", "serviceaccount/it"),
	},
	{
		kind: "Lease.coordination.k8s.io", reason: "who holds it doesn't matter",
		manifest: "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: it}}",
		states:   is, agrees: wait("create", "lease/it"),
	},
}
