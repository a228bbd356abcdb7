// Package memory holds what a Reconciler remembers of each resource between two reconciles: failures, progress, pauses,
// how the resource is counted, kinds that its status doesn't name yet, and objects that come back after they were
// deleted. All of it is lost when the process ends, and none of it is needed for correctness.
//
// There is one entry for each resource, one lock for all entries, and one function that forgets a resource.
package memory
