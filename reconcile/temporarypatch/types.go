package temporarypatch

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operkit/operkit/status"
)

// PatchType says how the bodies of a patch are written.
//
// +kubebuilder:validation:Enum=strategic;json;patchStrategicMerge;patchJson6902
type PatchType string

// The types of patches. The long names are those of oper8 and mean the same.
const (
	// Strategic is a strategic merge patch: a body is an object.
	Strategic PatchType = "strategic"
	// JSON is a JSON patch (RFC 6902): a body is a list of operations.
	JSON PatchType = "json"
	// StrategicMerge is Strategic.
	StrategicMerge PatchType = "patchStrategicMerge"
	// JSON6902 is JSON.
	JSON6902 PatchType = "patchJson6902"
)

// TemporaryPatch changes objects that an operator renders for another resource.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=tpatch
// +kubebuilder:printcolumn:name="Kind",type=string,JSONPath=`.spec.kind`
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.spec.name`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Applied",type=string,JSONPath=`.status.conditions[?(@.type=="Applied")].reason`
// +kubebuilder:printcolumn:name="Expires",type=string,JSONPath=`.spec.expiresAt`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Updating")].message`
type TemporaryPatch struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says what is changed of which resource.
	Spec TemporaryPatchSpec `json:"spec"`
	// Status tells what became of it.
	Status TemporaryPatchStatus `json:"status,omitempty"`
}

// TemporaryPatchSpec names the target and says what to change. Its first three fields can't be changed.
//
// +kubebuilder:object:generate=true
// +kubebuilder:validation:XValidation:rule="has(self.patch) != has(self.patches)",message="needs one of patch and patches"
type TemporaryPatchSpec struct {
	// APIVersion is that of the target, such as example.dev/v1.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="can't be changed: make a new patch for another target"
	APIVersion string `json:"apiVersion"`
	// Kind is that of the target.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="can't be changed: make a new patch for another target"
	Kind string `json:"kind"`
	// Name is that of the target, which is in the namespace of the patch.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="can't be changed: make a new patch for another target"
	Name string `json:"name"`
	// PatchType says how the bodies are written: strategic or json.
	PatchType PatchType `json:"patchType"`
	// Patch maps names of components to maps from names of objects to bodies.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:pruning:PreserveUnknownFields
	Patch *runtime.RawExtension `json:"patch,omitempty"`
	// Patches has the content of Patch in the form of a list.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +listType=map
	// +listMapKey=component
	// +listMapKey=object
	Patches []ObjectPatch `json:"patches,omitempty"`
	// Priority orders patches of one target: the highest is applied last, and wins.
	// +optional
	Priority int32 `json:"priority,omitempty"`
	// ExpiresAt is when the patch is taken off the target by itself.
	// +optional
	ExpiresAt *metav1.Time `json:"expiresAt,omitempty"`
}

// ObjectPatch is the patch of one object.
//
// +kubebuilder:object:generate=true
type ObjectPatch struct {
	// Component is the name of the component that has the object.
	// +kubebuilder:validation:MinLength=1
	Component string `json:"component"`
	// Object is the name of the object in that component.
	// +kubebuilder:validation:MinLength=1
	Object string `json:"object"`
	// Patch is the body.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Patch runtime.RawExtension `json:"patch"`
}

// TemporaryPatchStatus tells what became of the patch.
//
// +kubebuilder:object:generate=true
type TemporaryPatchStatus struct {
	status.Fields `json:",inline"`
	// Matched are the objects that were patched when the target was last rendered.
	// +optional
	Matched []string `json:"matched,omitempty"`
	// Unmatched names the components and objects in the patch for which no object was rendered.
	// +optional
	Unmatched []string `json:"unmatched,omitempty"`
}

// TemporaryPatchList is a list of patches.
//
// +kubebuilder:object:root=true
type TemporaryPatchList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the patches.
	Items []TemporaryPatch `json:"items"`
}
