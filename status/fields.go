package status

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Fields is the Go type of the status that an Application writes. Embed it inline in the status of a custom resource,
// or use it as the status. Then the schema of the CustomResourceDefinition has these fields: the API server drops
// fields that the schema doesn't have. For the service status, add your own field, named after your kind.
//
// The lists are omitzero, so that an empty list stays different from a missing one when a status is decoded and
// encoded. With lists that are omitempty, Application.Update would find a change each time.
//
// +kubebuilder:object:generate=true
type Fields struct {
	// ObservedGeneration is the generation of the spec that the conditions describe.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// ReconciledGeneration is the last generation that was rolled out completely.
	// +optional
	ReconciledGeneration int64 `json:"reconciledGeneration,omitempty"`
	// Conditions describe the state of the resource: Ready and Updating, and for tools Reconciling and Stalled.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitzero"`
	// ComponentStatus is the progress of each component.
	// +optional
	ComponentStatus *ComponentFields `json:"componentStatus,omitempty"`
	// Versions are the versions of the resource.
	// +optional
	Versions *VersionFields `json:"versions,omitempty"`
	// OperatorVersion is the version of the operator that wrote this status.
	// +optional
	OperatorVersion string `json:"operatorVersion,omitempty"`
}

// ComponentFields is the progress of a rollout.
//
// +kubebuilder:object:generate=true
type ComponentFields struct {
	// Deployed is the number of deployed components and of all components that aren't disabled, such as 1/2.
	// +optional
	Deployed string `json:"deployed,omitempty"`
	// Verified is the number of ready components and of all components that aren't disabled, such as 1/2.
	// +optional
	Verified string `json:"verified,omitempty"`
	// AllComponents are the names of all components that aren't disabled.
	// +optional
	AllComponents []string `json:"allComponents,omitzero"`
	// DeployedComponents are the deployed components, ready or not.
	// +optional
	DeployedComponents []string `json:"deployedComponents,omitzero"`
	// VerifiedComponents are the ready components.
	// +optional
	VerifiedComponents []string `json:"verifiedComponents,omitzero"`
	// UnverifiedComponents are the components that are deployed but not ready.
	// +optional
	UnverifiedComponents []string `json:"unverifiedComponents,omitzero"`
	// FailedComponents are the components that failed.
	// +optional
	FailedComponents []string `json:"failedComponents,omitzero"`
	// UnstartedComponents are the components that weren't started, with the reason.
	// +optional
	UnstartedComponents []ComponentReason `json:"unstartedComponents,omitzero"`
	// DisabledComponents are the components that are switched off. None of their objects is left.
	// +optional
	DisabledComponents []string `json:"disabledComponents,omitempty"`
	// ComponentMessages are the messages about single components, such as why one isn't ready.
	// +optional
	ComponentMessages []ComponentMessage `json:"componentMessages,omitzero"`
	// DependencyGraph is the graph of the components as text.
	// +optional
	DependencyGraph string `json:"dependencyGraph,omitempty"`
	// Kinds are the kinds of the components' objects.
	// +optional
	Kinds []string `json:"kinds,omitzero"`
	// Stale means that the other fields are from an earlier reconcile than the conditions.
	// +optional
	Stale bool `json:"stale,omitempty"`
}

// ComponentReason is the reason why a component wasn't started.
//
// +kubebuilder:object:generate=true
type ComponentReason struct {
	// Name is the name of the component.
	Name string `json:"name"`
	// Reason is what the component waits for.
	// +optional
	Reason string `json:"reason,omitempty"`
}

// ComponentMessage is a message about a component.
//
// +kubebuilder:object:generate=true
type ComponentMessage struct {
	// Name is the name of the component.
	Name string `json:"name"`
	// Message describes the state of the component, such as why it isn't ready.
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
	// Available are the versions that the operator offers.
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
