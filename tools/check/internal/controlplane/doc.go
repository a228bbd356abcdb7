// Package controlplane starts one Kubernetes control plane that all tests of a run share, and ends it with the run.
//
// The control plane is a child process, the launcher of tools/envtest. A pipe is its standard input: the end of the pipe
// ends the control plane, so that it cannot outlive this program, however that ends.
//
// Use it only for runs with tests that depend on tools/envtest; see [Needed].
package controlplane
