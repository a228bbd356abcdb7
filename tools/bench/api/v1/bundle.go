package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is that of the kinds of this package.
	GroupVersion = schema.GroupVersion{Group: "bench.operkit.dev", Version: "v1"}
	// BundleKind is the kind of a Bundle.
	BundleKind = GroupVersion.WithKind("Bundle")
)

// ConditionReady is the type of the condition that is True when all children have been applied for the generation that it
// names.
const ConditionReady = "Ready"

// Bundle has five children: a Deployment, a Service, two ConfigMaps and a ServiceAccount.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Bundle struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BundleSpec   `json:"spec,omitempty"`
	Status BundleStatus `json:"status,omitempty"`
}

// BundleSpec is what the author of a Bundle wants.
type BundleSpec struct {
	// Size is in one of the ConfigMaps and in the Deployment's environment.
	Size int32 `json:"size"`
	// Message is in the other ConfigMap.
	Message string `json:"message"`
}

// BundleStatus is what an operator says of a Bundle.
type BundleStatus struct {
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// BundleList is a list of Bundles.
//
// +kubebuilder:object:root=true
type BundleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Bundle `json:"items"`
}
