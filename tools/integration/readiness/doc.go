// Package readiness holds the verdicts of the module's package status/readiness against a real control plane: for each
// kind that has a rule of its own, an object is created and watched, every version of it is judged, and kubectl is
// asked whether it agrees.
//
// It holds tests only. What a single field does to a verdict is tested without a cluster, in status/readiness itself.
package readiness
