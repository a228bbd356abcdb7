// Package cluster is the supervisor: it starts the components of one cluster, says when they are
// ready, sees when one dies, and stops them all.
//
// Each component is a process of the same program (see component.Name.Program). State is kept
// nowhere beyond the life of a cluster: Start empties the directory, and stopping kills the
// components at once, since there is nothing to save. This package links no Kubernetes code; what
// the components are compiled from is the business of the main package.
package cluster
