// Package conditions tests the conditions that package status writes, on a real control plane and with the real
// kubectl. The API server accepts the patches. Clients that wait for a condition see it, but don't accept a condition
// for an older generation.
//
// It holds tests only. Tests of single calls need no cluster and are in status.
package conditions
