// Package v2 is version 2 of the shop's API, which the operator uses.
//
// +kubebuilder:object:generate=true
// +groupName=examples.operkit.dev
package v2
