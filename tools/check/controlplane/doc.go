// Package controlplane starts one Kubernetes control plane that all tests of a run share, through
// tools/envtest/devcluster, and ends it with the run. A run may test one module or all modules.
//
// Use it only for runs with tests that depend on tools/envtest; see [Needed].
package controlplane
