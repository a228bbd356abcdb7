// Package judge decides whether an object is ready, and explains why not, by means of other objects in the cluster: the
// StorageClass of a claim, the Pods and claims of a workload.
package judge
