package watcher

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/operkit/operkit/reconcile/watcher/internal/work"
)

// LongestDelay is the longest time that Exponential returns.
const LongestDelay = 24 * time.Hour

// RetryPolicy decides whether a call is repeated after an error, and when. attempt is the number of failures in a row
// before this one: zero for the first failure. A policy of nil never repeats. It must be safe for concurrent use; if it
// panics, DefaultRetry decides.
//
// The deletion of an object that a finalizer holds isn't given up: it goes on with the last delay of the policy, and at
// most each second, unless the policy never repeats or the error is permanent. Neither is a call whose error means
// waiting (request.Precondition): the policy is asked with the number of such errors in a row before this one, and its
// last delay stands; if it never repeats, the delay is a minute.
type RetryPolicy = func(err error, attempt int) (after time.Duration, again bool)

// Exponential returns the policy that repeats a call at most max times: after initial, then after twice that time, and
// so on, up to LongestDelay. Without a positive max it never repeats. A negative time counts as zero.
func Exponential(initial time.Duration, max int) RetryPolicy {
	return func(_ error, attempt int) (time.Duration, bool) {
		if attempt >= max {
			return 0, false
		}
		return delay(initial, attempt), true
	}
}

// delay doubles initial, up to LongestDelay.
func delay(initial time.Duration, times int) time.Duration {
	initial, times = max(initial, 0), max(times, 0)
	if float64(initial)*math.Pow(2, float64(times)) > float64(LongestDelay) {
		return LongestDelay
	}
	return initial << times
}

// DefaultRetry is the policy of watchers without one: five retries, after 5, 10, 20, 40 and 80 seconds, without jitter.
func DefaultRetry() RetryPolicy { return Exponential(5*time.Second, 5) }

// Jitter returns a policy with the delays of another one, each longer by a random part of it up to factor: 0.2 means up
// to a fifth. So objects that have failed together, because a server was down, aren't repeated together. No delay is
// longer than LongestDelay. A factor that isn't positive changes nothing, and a nil policy stays nil.
func Jitter(policy RetryPolicy, factor float64) RetryPolicy {
	if policy == nil || !(factor > 0) {
		return policy
	}
	return func(err error, attempt int) (time.Duration, bool) {
		after, again := policy(err, attempt)
		longer := float64(after) * (1 + factor*rand.Float64())
		return max(after, time.Duration(min(longer, float64(LongestDelay)))), again
	}
}

// Question is what a DequeuePolicy is asked.
type Question = work.Question

// DequeuePolicy decides, when an event of an object comes while a call for the object is to be repeated, whether the
// event drops the repetition. The watcher is called for the event in any case, and if that call succeeds, nothing that
// has failed before is repeated. So the policy matters when the call fails too: if the repetition was dropped, its
// failures and its time start anew; if not, it keeps both. And it matters for calls that a reconciler has asked for by
// RequeueAfter, which are dropped, or stay after a success; a resync never drops these. A policy of nil drops each
// repetition. It must not change the objects, and must be safe for concurrent use; if it panics, Opinionated decides.
type DequeuePolicy = func(q Question) bool

// Opinionated is the default DequeuePolicy. A deletion drops each repetition. Any other event drops a repetition of the
// same action if the generation has changed: a change of labels or of the status, such as a finalizer that the operator
// sets itself, isn't worth to start anew.
func Opinionated(q Question) bool {
	switch {
	case q.Action == Deleted:
		return true
	case q.Action != q.Retry:
		return false
	}
	return q.Object.GetGeneration() != q.RetryObject.GetGeneration()
}
