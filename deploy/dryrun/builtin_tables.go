package dryrun

import "k8s.io/apimachinery/pkg/runtime/schema"

// What follows is written in the API server's registries and nowhere else.

// shortNames are those by which people call kinds of Kubernetes.
var shortNames = map[schema.GroupKind][]string{
	{Kind: "ConfigMap"}:             {"cm"},
	{Kind: "Endpoints"}:             {"ep"},
	{Kind: "Event"}:                 {"ev"},
	{Kind: "LimitRange"}:            {"limits"},
	{Kind: "Namespace"}:             {"ns"},
	{Kind: "Node"}:                  {"no"},
	{Kind: "PersistentVolume"}:      {"pv"},
	{Kind: "PersistentVolumeClaim"}: {"pvc"},
	{Kind: "Pod"}:                   {"po"},
	{Kind: "ReplicationController"}: {"rc"},
	{Kind: "ResourceQuota"}:         {"quota"},
	{Kind: "Service"}:               {"svc"},
	{Kind: "ServiceAccount"}:        {"sa"},

	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: {"crd", "crds"},
	{Group: "apps", Kind: "DaemonSet"}:                                {"ds"},
	{Group: "apps", Kind: "Deployment"}:                               {"deploy"},
	{Group: "apps", Kind: "ReplicaSet"}:                               {"rs"},
	{Group: "apps", Kind: "StatefulSet"}:                              {"sts"},
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:           {"hpa"},
	{Group: "batch", Kind: "CronJob"}:                                 {"cj"},
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}: {"csr"},
	{Group: "events.k8s.io", Kind: "Event"}:                           {"ev"},
	{Group: "networking.k8s.io", Kind: "IPAddress"}:                   {"ip"},
	{Group: "networking.k8s.io", Kind: "Ingress"}:                     {"ing"},
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:               {"netpol"},
	{Group: "policy", Kind: "PodDisruptionBudget"}:                    {"pdb"},
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:               {"pc"},
	{Group: "storage.k8s.io", Kind: "StorageClass"}:                   {"sc"},
	{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}:          {"vac"},
}

// counted are the kinds of Kubernetes whose objects have a generation.
var counted = map[string][]string{
	"": {"Pod", "PodTemplate", "ReplicationController"},
	"admissionregistration.k8s.io": {
		"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
	},
	"apiextensions.k8s.io":         {"CustomResourceDefinition"},
	"apps":                         {"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"},
	"batch":                        {"CronJob", "Job"},
	"discovery.k8s.io":             {"EndpointSlice"},
	"flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
	"networking.k8s.io":            {"Ingress", "IngressClass", "NetworkPolicy"},
	"policy":                       {"PodDisruptionBudget"},
	"resource.k8s.io":              {"DeviceClass", "DeviceTaintRule", "ResourceSlice"},
	"scheduling.k8s.io":            {"PriorityClass"},
}

// selectableFields are the fields that lists of a kind of Kubernetes can be selected by,
// beside those of metadata.
var selectableFields = map[schema.GroupKind][]string{
	{Kind: "Event"}: {
		"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
		"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath",
		"reason", "reportingComponent", "source", "type",
	},
	{Kind: "Namespace"}: {"status.phase"},
	{Kind: "Node"}:      {"spec.unschedulable"},
	{Kind: "Pod"}: {
		"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
		"status.phase", "status.podIP", "status.nominatedNodeName",
	},
	{Kind: "ReplicationController"}: {"status.replicas"},
	{Kind: "Secret"}:                {"type"},
	{Kind: "Service"}:               {"spec.clusterIP", "spec.type"},
	{Group: "batch", Kind: "Job"}:   {"status.successful"},
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}: {"spec.signerName"},
}

// kubernetesClusterScoped holds the kinds of Kubernetes itself that live in no namespace.
var kubernetesClusterScoped = map[string][]string{
	"": {"ComponentStatus", "Namespace", "Node", "PersistentVolume"},
	"admissionregistration.k8s.io": {
		"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
	},
	"apiextensions.k8s.io":         {"CustomResourceDefinition"},
	"apiregistration.k8s.io":       {"APIService"},
	"authentication.k8s.io":        {"SelfSubjectReview", "TokenReview"},
	"authorization.k8s.io":         {"SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"},
	"certificates.k8s.io":          {"CertificateSigningRequest", "ClusterTrustBundle"},
	"flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
	"internal.apiserver.k8s.io":    {"StorageVersion"},
	"networking.k8s.io":            {"IPAddress", "IngressClass", "ServiceCIDR"},
	"node.k8s.io":                  {"RuntimeClass"},
	"rbac.authorization.k8s.io":    {"ClusterRole", "ClusterRoleBinding"},
	"resource.k8s.io":              {"DeviceClass", "DeviceTaintRule", "ResourcePoolStatusRequest", "ResourceSlice"},
	"scheduling.k8s.io":            {"PriorityClass"},
	"storage.k8s.io":               {"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"},
	"storagemigration.k8s.io":      {"StorageVersionMigration"},
}
