// Package revision computes what a ControllerRevision of metacontroller has: the part of a parent that its children
// depend on, under a name that is the same for the same part. It is pure.
package revision
