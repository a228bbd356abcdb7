// Package podtemplate finds the Pod template in an object of a kind of Kubernetes that has Pods, and changes a field of
// an object without changing the object itself.
package podtemplate
