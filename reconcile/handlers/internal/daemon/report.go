package daemon

import (
	"time"

	"github.com/operkit/operkit/deploy"
)

// Report is something that has happened to a daemon, for logs, events and metrics.
type Report[T any] struct {
	What What
	// Key names the object, Object is its latest state that the daemon could know, and ID identifies the daemon.
	Key    deploy.Ref
	Object *T
	ID     string
	// Stop is why the daemon was stopped, empty if it wasn't.
	Stop Stop
	// Err is the error of the daemon: always set for Failed and GivenUp. After a Stop the error of the context is none.
	// A panic is a *dag.PanicError.
	Err error
	// After is how long the daemon has run, if it was stopped only since the Stop. For Failed, Again is the time of the
	// next run.
	After time.Duration
	Again time.Time
}

// What is the kind of a Report.
type What string

// The kinds of reports. Each run has one of them, and Returned after Abandoned.
const (
	// Ended: the daemon has returned nil by itself.
	Ended What = "ended"
	// Failed: the daemon has returned an error by itself, and is run again.
	Failed What = "failed"
	// GivenUp: the daemon isn't run again, because of its last error or its limits.
	GivenUp What = "given up"
	// Stopped: the daemon has returned after a Stop.
	Stopped What = "stopped"
	// Abandoned: the daemon hasn't returned within its Grace, and counts as ended from now on. Its goroutine is left
	// behind.
	Abandoned What = "abandoned"
	// Returned: a daemon that was abandoned has returned.
	Returned What = "returned"
)
