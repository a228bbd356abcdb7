package request

import (
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/types"
)

// Request asks for one reconcile. Only Key is needed for correctness: the latest state is read when the reconcile
// starts.
type Request struct {
	// Key names the object.
	Key deploy.Ref
	// Triggers are the reasons for the reconcile.
	Triggers Triggers
	// Attempt counts the failures in a row before this try; zero for the first. A success, a permanent error, a new
	// spec of the object and a forced reconcile set it to zero, an Advanced error (Error) to one.
	Attempt int
	// Waited is the time in the queue, for metrics and traces.
	Waited time.Duration
}

// Result is the result of a reconcile without an error.
type Result struct {
	// RequeueAfter asks for another reconcile after this time even if nothing happens. Without a positive time it asks
	// for none.
	RequeueAfter time.Duration
	// Wrote has the revisions of other objects that this reconcile wrote, at least the last one of each object. The
	// events of these revisions don't bring the object to reconcile, whether it owns or follows what was written. Set
	// Wrote only if nothing is left to do until the next reconcile that RequeueAfter or an error asks for. It is ignored
	// with a permanent error.
	Wrote []Revision
}

// Revision is one state of an object.
type Revision struct {
	// UID is the uid of the object.
	UID types.UID
	// ResourceVersion is the resource version of the state.
	ResourceVersion string
}
