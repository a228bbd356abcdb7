// Package cluster is the supervisor: it starts the components of one cluster, reports when they are ready, notices when
// one ends, and stops them all.
//
// Each component is a process of the same program (see component.Name.Program). A cluster's data doesn't outlive it:
// Start empties the directory, and stopping kills the components at once, since nothing has to be saved. This package
// links no Kubernetes code; the main package links the components.
package cluster
