// Package devcluster finds or builds the devcluster program, a whole Kubernetes control plane in one binary, and runs
// clusters with it. The program is a separate module that contains Kubernetes' servers; this package never links it.
// [Binary] returns its path, and builds it once per machine if it isn't cached. [Start] runs a cluster in a folder of
// its own; the cluster ends with the calling process. [Open] returns a cluster that is running.
//
// In tests use package envtest, which shares one cluster between all tests. Use this package in programs that need a
// control plane for a while: a demo, a benchmark, a generator. It works on systems with flock: Linux (tested), macOS
// and the BSDs.
package devcluster
