package request

import "strings"

// Triggers are the reasons why an object is reconciled: all that occurred since its last reconcile began. They are for
// logs, metrics and priorities; correctness doesn't depend on them. The zero value is no reason.
type Triggers uint16

// The triggers. If an object has several, the one that is last in this list decides how soon its turn comes.
const (
	// Listed: the object existed when the kind began to be watched.
	Listed Triggers = 1 << iota
	// Periodic: the time that a result asked for is over.
	Periodic
	// Retry: the time after a failure is over.
	Retry
	// External: something happened outside of the cluster.
	External
	// Mapped: an object changed that was declared to concern this object.
	Mapped
	// Followed: an object changed that this object follows and doesn't own.
	Followed
	// Child: an object changed that this object owns.
	Child
	// Changed: the object was created or changed, perhaps before the kind began to be watched, if the generations in
	// its status show that.
	Changed
	// Forced: somebody requested the reconcile by the annotation that package watch reads.
	Forced
	// Deleting: the deletion of the object has begun.
	Deleting
	// Deleted: the object is gone.
	Deleted
)

var triggerNames = []string{
	"listed", "periodic", "retry", "external", "mapped", "followed", "child", "changed", "forced", "deleting", "deleted",
}

// Has reports whether t contains one of the given triggers.
func (t Triggers) Has(any Triggers) bool { return t&any != 0 }

// String returns the names of the triggers in the order of the constants: "child,changed".
func (t Triggers) String() string {
	var names []string
	for i, name := range triggerNames {
		if t&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}
