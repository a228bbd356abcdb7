package readiness

import "k8s.io/apimachinery/pkg/runtime/schema"

// key identifies the row of a kind. It has no version, because a row applies to all versions.
type key struct{ group, kind string }

// rule decides for the kinds of its row. It runs after the common checks.
type rule func(s subject) Result

// table holds the rows. It is never changed. generic decides for kinds without a row.
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

// byPresence is the row of kinds whose objects are Ready as soon as they exist. It is nil: after the checks for all
// kinds no rule is called.
var byPresence rule

// NeedsContent reports whether the Checker reads more than the metadata of a kind's objects. If it returns false, an
// object without spec, data and status gets the same result. Its apiVersion, kind and metadata are always needed.
func (c Checker) NeedsContent(kind schema.GroupKind) bool {
	if expected := c.Registry[kind]; expected.Func != nil || expected.And != nil || expected.Condition != nil || len(expected.Fields) > 0 {
		return true
	}
	row, known := table[key{kind.Group, kind.Kind}]
	return !known || row != nil
}

// present is the result for objects of kinds that are ready as soon as they exist.
func present() Result {
	return ready("Present", "the object is present")
}
