// Package conditions holds what the module's package status writes against a real control plane and the real kubectl:
// that the API server takes the patches, that those who wait for a condition are woken by it, and that they aren't by
// one of an older generation.
//
// It holds tests only. What a single call does to an object is tested without a cluster, in status itself.
package conditions
