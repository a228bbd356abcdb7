package readiness

// key names the row of a kind: any version of a group.
type key struct{ group, kind string }

// rule decides for the kinds of its row, after the common checks.
type rule func(s subject) Result

// table holds the rows. It is never written to; a kind without a row is decided
// by generic.
//
// spec: status 25
var table = map[key]rule{
	{"apps", "Deployment"}:        deployment,
	{"apps", "StatefulSet"}:       statefulSet,
	{"apps", "DaemonSet"}:         daemonSet,
	{"apps", "ReplicaSet"}:        replicaSet,
	{"", "ReplicationController"}: replicaSet,

	{"", "Pod"}:          pod,
	{"batch", "Job"}:     job,
	{"batch", "CronJob"}: present,

	{"", "PersistentVolumeClaim"}:         claim,
	{"", "PersistentVolume"}:              volume,
	{"storage.k8s.io", "StorageClass"}:    present,
	{"", "Service"}:                       service,
	{"networking.k8s.io", "Ingress"}:      ingress,
	{"discovery.k8s.io", "EndpointSlice"}: present,

	{"policy", "PodDisruptionBudget"}:          budget,
	{"autoscaling", "HorizontalPodAutoscaler"}: autoscaler,

	{"apiextensions.k8s.io", "CustomResourceDefinition"}: definition,
	{"apiregistration.k8s.io", "APIService"}:             apiService,

	{"", "Namespace"}: namespace,
	{"", "Node"}:      node,

	{"", "ConfigMap"}:      present,
	{"", "Secret"}:         present,
	{"", "ServiceAccount"}: present,
	{"", "ResourceQuota"}:  present,
	{"", "LimitRange"}:     present,

	{"rbac.authorization.k8s.io", "Role"}:               present,
	{"rbac.authorization.k8s.io", "ClusterRole"}:        present,
	{"rbac.authorization.k8s.io", "RoleBinding"}:        present,
	{"rbac.authorization.k8s.io", "ClusterRoleBinding"}: present,

	{"networking.k8s.io", "NetworkPolicy"}:                             present,
	{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"}: present,
	{"admissionregistration.k8s.io", "MutatingWebhookConfiguration"}:   present,
	{"scheduling.k8s.io", "PriorityClass"}:                             present,
	{"coordination.k8s.io", "Lease"}:                                   present,
}

// present is the rule of kinds that are ready by being there.
func present(subject) Result {
	return ready("Present", "the object is present")
}
