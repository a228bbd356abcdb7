package watcher

import (
	"cmp"
	"time"

	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/watcher/internal/work"
)

const (
	// waitAgain is the time until the next call of a watcher that waits, if its policy never repeats.
	waitAgain = time.Minute
	// leastLast is the shortest time between calls that go on after the policy has given up.
	leastLast = time.Second
)

// drops asks the policy of a watcher whether the event drops the call that is to be repeated. No lock is held then.
func (p *pass) drops(m *member, object *work.Object) bool {
	q, asked := p.question(m, object)
	if !asked {
		return false
	}
	policy := m.dequeueOf(p.settings)
	if policy == nil {
		return true
	}
	drops, err := failure.Value(func() (bool, error) { return policy(q), nil })
	if err != nil {
		p.policyPanicked(m, err)
		return Opinionated(q)
	}
	return drops
}

func (p *pass) question(m *member, object *work.Object) (q Question, asked bool) {
	p.objects.mu.Lock()
	defer p.objects.mu.Unlock()
	if w := p.entry.works[m]; w != nil && p.entry.is(object) {
		return w.Question(object, p.asOf)
	}
	return q, false
}

// decide asks the policy of the watcher whether the call is repeated. No lock is held then. A call that waits, and the
// deletion of an object that a finalizer holds, aren't given up.
func (a *attempt) decide(w *work.Work, out work.Outcome) work.Decision {
	a.objects.mu.Lock()
	attempt, most, asked := w.Asks(a.call, out)
	a.objects.mu.Unlock()
	if !asked {
		return work.Decision{Most: most}
	}
	policy := a.member.retryOf(a.settings)
	decision := a.ask(policy, out.Err, attempt)
	if decision.Again || !out.IsWaiting && !a.isHeld() {
		return decision
	}
	if most != 0 {
		attempt = min(attempt, max(most, 0))
	}
	return a.goOn(policy, out, attempt)
}

// goOn decides about a call that isn't given up although the policy refuses an attempt. The delay is that of the last
// attempt before it that the policy accepts.
func (a *attempt) goOn(policy RetryPolicy, out work.Outcome, attempt int) (decision work.Decision) {
	for attempt > 0 && !decision.Again {
		attempt--
		decision = a.ask(policy, out.Err, attempt)
	}
	switch {
	case decision.Again:
		decision.After, decision.Most = max(decision.After, leastLast), attempt+1
	case out.IsWaiting:
		decision = work.Decision{Again: true, After: waitAgain, Most: work.Never}
	}
	return decision
}

// isHeld reports whether the call is for the deletion of an object that the watcher holds.
func (a *attempt) isHeld() bool {
	return len(a.member.finalizers) > 0 && a.call.Object != nil && a.call.Object.GetDeletionTimestamp() != nil
}

func (a *attempt) ask(policy RetryPolicy, err error, attempt int) (d work.Decision) {
	if policy == nil {
		return d
	}
	panicked := failure.Guard(func() error { d.After, d.Again = policy(err, attempt); return nil })
	if panicked != nil {
		a.policyPanicked(a.member, panicked)
		d.After, d.Again = DefaultRetry()(err, attempt)
	}
	return d
}

// policyPanicked logs the first panic of a policy of a watcher.
func (p *pass) policyPanicked(m *member, err error) {
	if !m.policyPanicked.Swap(true) {
		p.Logger.Error("a policy of a watcher panicked: the default decides", "watcher", m.name, "error", err)
	}
}

// retryOf returns the RetryPolicy of a watcher: its own, or that of New.
func (m *member) retryOf(all *settings) RetryPolicy {
	standard := DefaultRetry()
	return *cmp.Or(m.retry, all.retry, &standard)
}

// dequeueOf returns the DequeuePolicy of a watcher: its own, or that of New.
func (m *member) dequeueOf(all *settings) DequeuePolicy {
	standard := DequeuePolicy(Opinionated)
	return *cmp.Or(m.dequeue, all.dequeue, &standard)
}
