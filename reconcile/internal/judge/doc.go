// Package judge decides whether an object is ready, and why not, by what the cluster says of other objects: the
// StorageClass of a claim, the Pods and claims of a workload.
package judge
