package reconcile

import (
	"time"

	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/request"
)

// Now returns the present time by the clock of the Reconciler (Clock). Setup and components use it instead of time.Now,
// so that a test can move the time.
func (s *Session) Now() time.Time { return s.reconciler.now() }

// RequeueWithin reconciles the resource again after the given time at the latest, for something that becomes due
// without an event, such as the renewal of a certificate. Of several calls the shortest time counts. A time that isn't
// positive is ignored. It also holds if Period is longer or zero, and if the controller's Requeue returns a longer or
// negative time. After a failed reconcile the backoff decides. RequeueWithin is safe for concurrent use.
func (s *Session) RequeueWithin(after time.Duration) {
	if after <= 0 {
		return
	}
	s.requeueing.Lock()
	defer s.requeueing.Unlock()
	s.within = lifecycle.Sooner(s.within, after)
}

// soon shortens the time of a result to that of RequeueWithin.
func (s *Session) soon(result request.Result) request.Result {
	s.requeueing.Lock()
	defer s.requeueing.Unlock()
	result.RequeueAfter = lifecycle.Sooner(result.RequeueAfter, s.within)
	return result
}
