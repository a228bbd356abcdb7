package v1

import (
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// WebAppKind is the kind that the operator controls.
var WebAppKind = schema.GroupVersionKind{Group: "examples.operkit.dev", Version: "v1", Kind: "WebApp"}

// WebApp is a web application that runs in several namespaces, in the version that a release channel names.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=wa
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Updating")].reason`
// +kubebuilder:printcolumn:name="Components",type=string,JSONPath=`.status.componentStatus.verified`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Version",type=string,priority=1,JSONPath=`.status.versions.reconciled`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Updating")].message`
type WebApp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WebAppSpec    `json:"spec"`
	Status status.Fields `json:"status,omitempty"`
}

// WebAppSpec is what its author wants.
type WebAppSpec struct {
	// Image is the image of the application without a tag: the tag is the version.
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image"`
	// Channel is the URL of a JSON document such as {"version": "1.4.2"} that says which version is released.
	// +kubebuilder:validation:Pattern=`^https?://.+`
	Channel string `json:"channel"`
	// Stages are where the application runs. A version comes to a stage once it is ready in the one before.
	// +listType=map
	// +listMapKey=namespace
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	Stages []Stage `json:"stages"`
}

// Stage is a namespace in which the application runs.
type Stage struct {
	// Namespace has to be there: the operator creates none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
	// Replicas is the number of Pods.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=20
	Replicas int32 `json:"replicas"`
}

// WebAppList is a list of web apps.
//
// +kubebuilder:object:root=true
type WebAppList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []WebApp `json:"items"`
}
