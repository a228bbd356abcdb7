// Package v1 is version 1 of the API of cat sets.
//
// +kubebuilder:object:generate=true
// +groupName=examples.operkit.dev
package v1
