// Package readiness decides whether a Kubernetes object is ready, by looking at the object and nothing else: no client,
// no clock.
//
//	result := readiness.Of(obj)
//	if result.Ready() { ... }
//	log.Info("waiting", "state", result.State, "reason", result.Reason, "message", result.Message)
//
// The results are those of kstatus (Current is called Ready here), decided by a table that goes further: an object that
// has failed is Failed at once, one that its controller hasn't observed is InProgress, and a group counts as much as a
// kind. Checks that all kinds share come first (common.go), then the row of the object's group and kind (table.go, and
// a file for each family of kinds), then the conditions that any kind may set (generic.go).
//
// Use it where a rollout waits for what it deployed, or to find which object is pending, and why. Don't use it to ask
// whether an application does its work: an object is ready when its controller reports so. For rules over single
// conditions use the package status.
//
// Objects are read in place, never copied or changed; Of may be called by several goroutines on one object as long as
// nobody writes to it. A field with a value of the wrong type counts as missing.
package readiness
