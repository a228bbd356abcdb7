// Package readiness compares the results of package status/readiness with a real control plane. For each kind that has
// a rule of its own, a test creates and watches an object, judges each of its versions, and checks that kubectl agrees.
//
// It holds tests only. Tests of single fields need no cluster and are in status/readiness.
package readiness
