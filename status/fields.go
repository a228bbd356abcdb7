package status

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Fields is the status that an Application writes, as a Go type: embed it inline in the
// status of a custom resource, or use it as that status, so that the schema of its
// CustomResourceDefinition knows the fields. What the schema doesn't know the API server
// drops. For the service status add a field of your own named for your kind.
//
// A list that is empty isn't one that is missing, so that a status which has been read
// through this type is what was written: with a type of your own whose lists are
// omitempty, Application.Update would find a change each time.
//
// +kubebuilder:object:generate=true
type Fields struct {
	// ObservedGeneration is the generation of the spec that the conditions speak of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// ReconciledGeneration is the last generation that was rolled out completely.
	// +optional
	ReconciledGeneration int64 `json:"reconciledGeneration,omitempty"`
	// Conditions say how the resource is: Ready, Updating, and for tools Reconciling and Stalled.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitzero"`
	// ComponentStatus tells how far each component is.
	// +optional
	ComponentStatus *ComponentFields `json:"componentStatus,omitempty"`
	// Versions are the versions of the resource.
	// +optional
	Versions *VersionFields `json:"versions,omitempty"`
	// OperatorVersion is the version of the operator that wrote this status.
	// +optional
	OperatorVersion string `json:"operatorVersion,omitempty"`
}

// ComponentFields is how far a rollout got.
//
// +kubebuilder:object:generate=true
type ComponentFields struct {
	// Deployed is how many components are deployed, of how many, such as 1/2.
	// +optional
	Deployed string `json:"deployed,omitempty"`
	// Verified is how many are ready, likewise.
	// +optional
	Verified string `json:"verified,omitempty"`
	// AllComponents are the names of all.
	// +optional
	AllComponents []string `json:"allComponents,omitzero"`
	// DeployedComponents are those that are deployed, ready or not.
	// +optional
	DeployedComponents []string `json:"deployedComponents,omitzero"`
	// VerifiedComponents are those that are ready.
	// +optional
	VerifiedComponents []string `json:"verifiedComponents,omitzero"`
	// UnverifiedComponents are those that are deployed and not ready.
	// +optional
	UnverifiedComponents []string `json:"unverifiedComponents,omitzero"`
	// FailedComponents are those that failed.
	// +optional
	FailedComponents []string `json:"failedComponents,omitzero"`
	// UnstartedComponents tells for what each component waits.
	// +optional
	UnstartedComponents []ComponentReason `json:"unstartedComponents,omitzero"`
	// ComponentMessages tells what keeps a component from being ready.
	// +optional
	ComponentMessages []ComponentMessage `json:"componentMessages,omitzero"`
	// DependencyGraph is the graph of the components as text.
	// +optional
	DependencyGraph string `json:"dependencyGraph,omitempty"`
	// Kinds are those of the objects that the components consist of.
	// +optional
	Kinds []string `json:"kinds,omitzero"`
	// Stale is set while the rest speaks of an earlier reconcile than the conditions.
	// +optional
	Stale bool `json:"stale,omitempty"`
}

// ComponentReason tells why a component wasn't started.
//
// +kubebuilder:object:generate=true
type ComponentReason struct {
	// Name is the component's.
	Name string `json:"name"`
	// Reason tells for what it waits.
	// +optional
	Reason string `json:"reason,omitempty"`
}

// ComponentMessage says something about a component.
//
// +kubebuilder:object:generate=true
type ComponentMessage struct {
	// Name is the component's.
	Name string `json:"name"`
	// Message tells what keeps it from being ready.
	// +optional
	Message string `json:"message,omitempty"`
}

// VersionFields are the versions of a resource.
//
// +kubebuilder:object:generate=true
type VersionFields struct {
	// Reconciled is the version that was last rolled out completely.
	// +optional
	Reconciled string `json:"reconciled,omitempty"`
	// Available are those on offer.
	// +optional
	Available *AvailableFields `json:"available,omitempty"`
}

// AvailableFields are the versions that the operator offers.
//
// +kubebuilder:object:generate=true
type AvailableFields struct {
	// Versions are in the order in which the operator offers them.
	// +optional
	Versions []AvailableVersion `json:"versions,omitzero"`
}

// AvailableVersion is one version that the operator offers.
//
// +kubebuilder:object:generate=true
type AvailableVersion struct {
	// Name is the version, such as 1.2.3.
	Name string `json:"name"`
}
