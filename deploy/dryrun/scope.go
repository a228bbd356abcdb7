package dryrun

import (
	"slices"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

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

// scopes knows where the objects of a kind live. It is never changed.
type scopes struct{ declared []schema.GroupKind }

func newScopes(declared []schema.GroupKind) scopes { return scopes{slices.Clone(declared)} }

func (s scopes) of(kind schema.GroupKind) deploy.Scope {
	if slices.Contains(kubernetesClusterScoped[kind.Group], kind.Kind) || slices.Contains(s.declared, kind) {
		return deploy.ClusterScoped
	}
	return deploy.Namespaced
}
