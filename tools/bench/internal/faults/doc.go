// Package faults is an API server that doesn't always do as it is asked: a proxy that answers a share of the requests
// itself, by what API servers answer when they are busy, broken, or somebody else was quicker.
package faults
