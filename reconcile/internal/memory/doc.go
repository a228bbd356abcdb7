// Package memory holds what a Reconciler remembers of each resource between two reconciles: failures, progress, pauses,
// how it is counted, kinds that its status doesn't name yet, and objects that come back after they were deleted. All of
// it ends with the process, and none of it is needed for correctness.
//
// It is one entry for each resource, under one lock, with one way to forget.
package memory
