// Package v1 is version 1 of the shop's API, which clients may still use.
//
// +kubebuilder:object:generate=true
// +groupName=examples.operkit.dev
package v1
