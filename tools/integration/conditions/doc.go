// Package conditions compares what the module's package status writes with a real control plane and the real kubectl:
// the API server accepts the patches, and clients that wait for a condition are woken by it, but not by one of an older
// generation.
//
// It holds tests only. What a single call does to an object is tested without a cluster, in status itself.
package conditions
