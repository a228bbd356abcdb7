package v1

import (
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GuestbookKind is the kind that the operator controls.
var GuestbookKind = schema.GroupVersionKind{Group: "examples.operkit.dev", Version: "v1", Kind: "Guestbook"}

// Guestbook is a small web application with a store behind it. Its name begins those of its Services and its StatefulSet,
// which may be less than other names may.
//
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 46",message="a guestbook's name has at most 46 characters: its StatefulSet's name, which has 6 more, may have 52"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z][^.]*$')",message="a guestbook's name begins with a letter and has no dots: its Services' names begin with it"
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=gb
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Updating")].reason`
// +kubebuilder:printcolumn:name="Components",type=string,JSONPath=`.status.componentStatus.verified`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Version",type=string,priority=1,JSONPath=`.status.versions.reconciled`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Updating")].message`
type Guestbook struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   GuestbookSpec `json:"spec,omitempty"`
	Status status.Fields `json:"status,omitempty"`
}

// GuestbookSpec is what its author wants.
type GuestbookSpec struct {
	// Size is the number of web Pods.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=20
	Size int32 `json:"size"`
	// Image is the image of the web Pods.
	// +optional
	// +kubebuilder:default="guestbook:1"
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image"`
	// Message is what visitors are greeted with.
	// +optional
	// +kubebuilder:default="Welcome!"
	Message string `json:"message"`
	// Redis is the store behind the web Pods.
	// +optional
	// +kubebuilder:default={}
	Redis RedisSpec `json:"redis"`
}

// RedisSpec says whether the guestbook keeps its entries.
type RedisSpec struct {
	// Enabled false removes the store and leaves a guestbook that forgets.
	// +optional
	// +kubebuilder:default=true
	Enabled bool `json:"enabled"`
}

// GuestbookList is a list of guestbooks.
//
// +kubebuilder:object:root=true
type GuestbookList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Guestbook `json:"items"`
}
