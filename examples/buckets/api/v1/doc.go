// Package v1 is version 1 of the API of buckets.
//
// +kubebuilder:object:generate=true
// +groupName=examples.operkit.dev
package v1
