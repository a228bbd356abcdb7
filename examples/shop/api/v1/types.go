package v1

import (
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ShopKind is the kind of shops in this version.
var ShopKind = schema.GroupVersionKind{Group: "examples.operkit.dev", Version: "v1", Kind: "Shop"}

// Shop is a shop in some colour.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:deprecatedversion:warning="examples.operkit.dev/v1 Shop is deprecated: use v2"
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name="Colour",type=string,JSONPath=`.spec.colour`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
type Shop struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ShopSpec      `json:"spec,omitempty"`
	Status status.Fields `json:"status,omitempty"`
}

// ShopSpec is what its author wants.
type ShopSpec struct {
	// Size is the number of Pods.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=20
	Size int32 `json:"size"`
	// Colour is the colour of the shop.
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
