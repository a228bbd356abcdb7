package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// EphemeralVolumeClaimKind is the kind that the operator handles.
var EphemeralVolumeClaimKind = schema.GroupVersionKind{Group: "examples.operkit.dev", Version: "v1", Kind: "EphemeralVolumeClaim"}

// EphemeralVolumeClaim is a PersistentVolumeClaim of the same name, for some time.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=evc
// +kubebuilder:printcolumn:name="Size",type=string,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name="TTL",type=string,JSONPath=`.spec.ttl`
// +kubebuilder:printcolumn:name="Claimed",type=string,JSONPath=`.status.conditions[?(@.type=="Claimed")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type EphemeralVolumeClaim struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   EphemeralVolumeClaimSpec   `json:"spec"`
	Status EphemeralVolumeClaimStatus `json:"status,omitempty"`
}

// EphemeralVolumeClaimSpec is what its author wants.
type EphemeralVolumeClaimSpec struct {
	// Size is the size of the volume, which can grow but not shrink.
	Size resource.Quantity `json:"size"`
	// TTL is the time after which the claim is deleted with its volume, such as 90m. Without it the claim stays.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(ms|s|m|h))+$`
	TTL *metav1.Duration `json:"ttl,omitempty"`
	// Note is a text for people.
	// +optional
	Note string `json:"note,omitempty"`
}

// EphemeralVolumeClaimStatus is what the operator reports.
type EphemeralVolumeClaimStatus struct {
	// PVC is the name of the PersistentVolumeClaim.
	// +optional
	PVC string `json:"pvc,omitempty"`
	// Capacity is the size of the volume, empty as long as there is none.
	// +optional
	Capacity string `json:"capacity,omitempty"`
	// Conditions are Claimed, whether the PersistentVolumeClaim is there, and Grown, whether it has got its last new size.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitzero"`
}

// EphemeralVolumeClaimList is a list of ephemeral volume claims.
//
// +kubebuilder:object:root=true
type EphemeralVolumeClaimList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EphemeralVolumeClaim `json:"items"`
}
