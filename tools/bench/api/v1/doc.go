// Package v1 is the custom resource that every operator of the benchmark controls.
//
// +kubebuilder:object:generate=true
// +groupName=bench.operkit.dev
package v1
