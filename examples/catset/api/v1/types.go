package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// CatSetKind is the kind that the operator reconciles.
var CatSetKind = schema.GroupVersionKind{Group: "examples.operkit.dev", Version: "v1", Kind: "CatSet"}

// CatSet is a set of numbered Pods, each with a volume of its own that outlives it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.status.replicas`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name="Updated",type=integer,JSONPath=`.status.updated`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type CatSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CatSetSpec   `json:"spec"`
	Status CatSetStatus `json:"status,omitempty"`
}

// CatSetSpec is what its author wants.
type CatSetSpec struct {
	// Replicas is the number of Pods.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:default=1
	Replicas int `json:"replicas"`
	// Template is the template of the Pods. Its containers may mount the volume "data".
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Template corev1.PodTemplateSpec `json:"template"`
	// Storage is the size of the volumes. A change is for new volumes only.
	// +kubebuilder:default="1Gi"
	Storage resource.Quantity `json:"storage"`
}

// CatSetStatus is what the operator reports.
type CatSetStatus struct {
	// ObservedGeneration is the generation that the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Replicas is the number of Pods that exist.
	Replicas int `json:"replicas"`
	// Ready is the number of Pods that are ready.
	Ready int `json:"ready"`
	// Updated is the number of Pods that have the present template.
	Updated int `json:"updated"`
	// Conditions are Ready: whether all Pods are there, ready and up to date.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitzero"`
}

// CatSetList is a list of cat sets.
//
// +kubebuilder:object:root=true
type CatSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []CatSet `json:"items"`
}
