// Package faults is a faulty API server: a proxy that responds to a share of the requests itself, with errors of busy
// or broken API servers, or with conflicts.
package faults
