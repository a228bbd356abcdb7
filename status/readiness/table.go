package readiness

import "k8s.io/apimachinery/pkg/runtime/schema"

// key names the row of a kind: any version of a group.
type key struct{ group, kind string }

// rule decides for the kinds of its row, after the common checks.
type rule func(s subject) Result

// table holds the rows. It is never written to; a kind without a row is decided
// by generic.
var table = map[key]rule{
	{"apps", "Deployment"}:        deployment,
	{"apps", "StatefulSet"}:       statefulSet,
	{"apps", "DaemonSet"}:         daemonSet,
	{"apps", "ReplicaSet"}:        replicaSet,
	{"", "ReplicationController"}: replicaSet,

	{"", "Pod"}:          pod,
	{"batch", "Job"}:     job,
	{"batch", "CronJob"}: byPresence,

	{"", "PersistentVolumeClaim"}:         claim,
	{"", "PersistentVolume"}:              volume,
	{"storage.k8s.io", "StorageClass"}:    byPresence,
	{"", "Service"}:                       service,
	{"networking.k8s.io", "Ingress"}:      ingress,
	{"discovery.k8s.io", "EndpointSlice"}: byPresence,

	{"policy", "PodDisruptionBudget"}:          budget,
	{"autoscaling", "HorizontalPodAutoscaler"}: autoscaler,

	{"apiextensions.k8s.io", "CustomResourceDefinition"}: definition,
	{"apiregistration.k8s.io", "APIService"}:             apiService,

	{"", "Namespace"}: namespace,
	{"", "Node"}:      node,

	{"", "ConfigMap"}:      byPresence,
	{"", "Secret"}:         byPresence,
	{"", "ServiceAccount"}: byPresence,
	{"", "ResourceQuota"}:  byPresence,
	{"", "LimitRange"}:     byPresence,

	{"rbac.authorization.k8s.io", "Role"}:               byPresence,
	{"rbac.authorization.k8s.io", "ClusterRole"}:        byPresence,
	{"rbac.authorization.k8s.io", "RoleBinding"}:        byPresence,
	{"rbac.authorization.k8s.io", "ClusterRoleBinding"}: byPresence,

	{"networking.k8s.io", "NetworkPolicy"}:                             byPresence,
	{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"}: byPresence,
	{"admissionregistration.k8s.io", "MutatingWebhookConfiguration"}:   byPresence,
	{"scheduling.k8s.io", "PriorityClass"}:                             byPresence,
	{"coordination.k8s.io", "Lease"}:                                   byPresence,
}

// byPresence is the row of kinds that are ready as soon as they exist.
var byPresence rule

// NeedsContent reports whether more than the metadata of a kind's objects is looked at. Where it is false an object may
// be given without spec, data and status, with the same result; its kind, apiVersion and metadata are needed.
func (c Checker) NeedsContent(kind schema.GroupKind) bool {
	if expected := c.Registry[kind]; expected.Func != nil || expected.Condition != nil || len(expected.Fields) > 0 {
		return true
	}
	row, known := table[key{kind.Group, kind.Kind}]
	return !known || row != nil
}

// present is the result for objects of kinds that are ready as soon as they exist.
func present() Result {
	return ready("Present", "the object is present")
}
