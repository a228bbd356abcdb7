// Package devcluster finds or builds the devcluster program, a whole Kubernetes control plane in one binary, and
// runs clusters with it.
// The program is a module of its own with Kubernetes' servers in it; this package never links it. [Binary] returns its
// path, and builds it once per machine if it isn't cached. [Start] runs a cluster in a folder of its own that ends with
// the calling process; [Open] returns one that is running.
//
// In tests use package envtest, which shares one cluster between all of them. Use this package in programs that need a
// control plane for a while: a demo, a benchmark, a generator. It works where file locks do: Linux (tested), macOS, the
// BSDs.
package devcluster
