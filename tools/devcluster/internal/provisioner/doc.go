// Package provisioner provides volumes for the claims of a cluster in which nothing is mounted. It is for the storage
// what kwok is for the nodes: a claim of one of its StorageClasses gets a PersistentVolume, which Kubernetes' own
// controllers bind, and which is deleted when the claim is gone. Nothing is written to a disk.
//
// It runs in the process of the controller-manager, which does the binding. Use it there only: unlike the other packages
// under internal, it links client-go.
package provisioner
