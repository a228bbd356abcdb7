package request

import "strings"

// Triggers are the reasons why an object is reconciled: all that occurred since its last reconcile began. They are for
// logs, metrics and priorities; correctness doesn't depend on them. The zero value is no reason.
type Triggers uint16

// The triggers. The last of several decides how soon the object's turn comes.
const (
	// Listed: it was there when the kind began to be watched.
	Listed Triggers = 1 << iota
	// Periodic: the time that a result asked for is over.
	Periodic
	// Retry: the time after a failure is over.
	Retry
	// External: something happened outside of the cluster.
	External
	// Mapped: an object changed that was declared to concern it.
	Mapped
	// Followed: an object changed that it refers to and doesn't own.
	Followed
	// Child: an object changed that it owns.
	Child
	// Changed: it was created or changed; also before the kind began to be watched, if the generations in its status
	// show that.
	Changed
	// Forced: somebody asked for it, by the annotation that package watch looks at.
	Forced
	// Deleting: its deletion has begun.
	Deleting
	// Deleted: it is gone.
	Deleted
)

var triggerNames = []string{
	"listed", "periodic", "retry", "external", "mapped", "followed", "child", "changed", "forced", "deleting", "deleted",
}

// Has reports whether one of the given triggers is among them.
func (t Triggers) Has(any Triggers) bool { return t&any != 0 }

// String names them, in the order of the constants: "child,changed".
func (t Triggers) String() string {
	var names []string
	for i, name := range triggerNames {
		if t&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}
