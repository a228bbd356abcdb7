// Package faults is a faulty API server: a proxy that answers a share of the requests itself, with the errors of API
// servers that are busy or broken, or with conflicts.
package faults
