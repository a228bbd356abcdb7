package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// BucketKind is the kind that the operator watches.
var BucketKind = schema.GroupVersionKind{Group: "examples.operkit.dev", Version: "v1", Kind: "Bucket"}

// Bucket is a bucket in a cloud.
//
// +kubebuilder:object:root=true
// +kubebuilder:printcolumn:name="Region",type=string,JSONPath=`.spec.region`
// +kubebuilder:printcolumn:name="Public",type=boolean,JSONPath=`.spec.public`
// +kubebuilder:printcolumn:name="Quota",type=string,JSONPath=`.spec.quota`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Bucket struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec BucketSpec `json:"spec"`
}

// BucketSpec is what its author wants.
type BucketSpec struct {
	// Region is where the bucket is. A bucket can't move.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a bucket can't move"
	Region string `json:"region"`
	// Public says whether everybody may read the bucket.
	// +optional
	Public bool `json:"public,omitempty"`
	// Quota limits the size of the bucket.
	// +kubebuilder:default="1Gi"
	Quota resource.Quantity `json:"quota"`
}

// BucketList is a list of buckets.
//
// +kubebuilder:object:root=true
type BucketList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Bucket `json:"items"`
}
