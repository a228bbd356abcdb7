// Package v1 is version 1 of the database's API.
//
// +kubebuilder:object:generate=true
// +groupName=examples.operkit.dev
package v1
