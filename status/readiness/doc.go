// Package readiness decides whether a Kubernetes object is ready. It reads only the object: it has no client and no
// clock.
//
//	result := readiness.Of(obj)
//	if result.Ready() { ... }
//	log.Info("waiting", "state", result.State, "reason", result.Reason, "message", result.Message)
//
// The states are those of kstatus, but Current is called Ready here. The rules go further than kstatus: a failed object
// is Failed at once, an object that its controller hasn't observed is InProgress, and kinds of the same name in
// different groups have different rules. The checks for all kinds come first (common.go). Then the row of the object's
// group and kind decides (table.go, and a file for each family of kinds). For a kind without a row, the conditions that
// any kind may set decide (generic.go).
//
// Use it where a rollout waits for the objects that it deployed, or to find out which object is pending, and why. It
// can't find out whether an application does its work: an object is ready when its controller reports so. For rules
// over single conditions use the package status.
//
// Objects are never changed. Several goroutines may call Of with one object, as long as nobody writes to it. A field
// with a value of the wrong type counts as missing.
package readiness
