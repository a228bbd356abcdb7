package request

import (
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/types"
)

// Request asks for one reconcile. Only the key is needed for correctness: the latest state
// is read when the reconcile starts.
type Request struct {
	// Key names the object.
	Key deploy.Ref
	// Triggers say why it is asked for.
	Triggers Triggers
	// Attempt counts the failures in a row before this try; zero for the first. A success, a
	// permanent error, a new spec of the object and a forced reconcile start anew; after one that got further than
	// those before it (Advanced) it is one.
	Attempt int
	// Waited is how long it waited for its turn, for metrics and traces.
	Waited time.Duration
}

// Result tells the engine what comes next.
type Result struct {
	// RequeueAfter asks for another reconcile after this time even if nothing happens; zero
	// and less ask for none.
	RequeueAfter time.Duration
	// Wrote are the revisions in which this reconcile has left other objects that it wrote. It knows them, so their events
	// don't bring the object to reconcile once more. It is for a reconcile that has nothing left to do; with an error it is
	// ignored.
	Wrote []Revision
}

// Revision is one state of an object.
type Revision struct {
	UID             types.UID
	ResourceVersion string
}
