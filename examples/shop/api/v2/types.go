package v2

import (
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ShopKind is the kind of shops in this version.
var ShopKind = schema.GroupVersionKind{Group: "examples.operkit.dev", Version: "v2", Kind: "Shop"}

// Shop is a shop in a street.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name="Colour",type=string,JSONPath=`.spec.appearance.colour`
// +kubebuilder:printcolumn:name="Street",type=string,JSONPath=`.spec.street`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
type Shop struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ShopSpec      `json:"spec,omitempty"`
	Status status.Fields `json:"status,omitempty"`
}

// ShopSpec is what its author wants.
type ShopSpec struct {
	// Replicas is the number of Pods. It is spec.size in v1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=20
	Replicas int32 `json:"replicas"`
	// Appearance is how the shop looks.
	Appearance Appearance `json:"appearance,omitzero"`
	// Street names the ConfigMap of the street in the namespace of the shop. Its entry colours lists the colours that
	// shops in that street may have, such as "green,blue". v1 has no such field.
	// +kubebuilder:validation:MaxLength=63
	Street string `json:"street,omitempty"`
}

// Appearance is how a shop looks.
type Appearance struct {
	// Colour is the colour of the shop: spec.colour in v1. The default is the first colour of the street.
	// +kubebuilder:validation:MaxLength=20
	Colour string `json:"colour,omitempty"`
}

// ShopList is a list of shops.
//
// +kubebuilder:object:root=true
type ShopList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Shop `json:"items"`
}
