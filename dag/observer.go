package dag

import (
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// ObserverPatience is how long a run waits at its end for a call of its observer to return.
	ObserverPatience = 5 * time.Second
	// eventBuffer is the number of events that may be queued. Further events are dropped, except for the last event of
	// a node.
	eventBuffer = 1024
)

// Observe calls observer with the events of a run, in their order, for progress displays, logs and metrics. A nil
// observer isn't called.
//
// All calls are on one goroutine, which doesn't run visits: a slow observer doesn't slow the run. While it is more than
// a thousand events behind, [EventStarted] and [EventWaiting] are dropped. The last event of each node is always
// delivered.
//
// Run returns after the last call has returned. If the observer panics, calls runtime.Goexit, or blocks for longer than
// [ObserverPatience] after the end of the run, it isn't called again, and Run returns the state with an
// [*ObserverError].
//
// With Concurrency(0) the observer is called at once, on the goroutine of Run. Nothing is dropped, and an observer that
// blocks also blocks the run. If a visit or predicate calls runtime.Goexit in such a run, the run ends at once. The
// last events are then the event of that node and the events of the nodes that wait for it.
func Observe(observer func(Event)) Option { return func(c *config) { c.observer = observer } }

// ObserverError reports that not all events were delivered to an observer. The state of the run is complete even then.
type ObserverError struct {
	// Undelivered is the number of events that weren't delivered. It includes an event from which the observer didn't
	// return.
	Undelivered int
	// Err is a [*PanicError], a [*GoexitError], or [ErrObserverBlocked].
	Err error
}

// ErrObserverBlocked reports that a call of an observer didn't return within [ObserverPatience].
var ErrObserverBlocked = fmt.Errorf("blocked for %s after the end of the run", ObserverPatience)

// Error returns what happened to the observer.
func (e *ObserverError) Error() string {
	return fmt.Sprintf("observer: %v: %d events weren't delivered", e.Err, e.Undelivered)
}

// Unwrap returns what happened to the observer.
func (e *ObserverError) Unwrap() error { return e.Err }

// observation delivers events to an observer.
type observation struct {
	observer func(Event)

	mu    sync.Mutex
	ready sync.Cond
	// queue holds, from index head on, the event that is being delivered and the events to deliver after it.
	queue []Event
	head  int
	// calling is the time of the call in progress, zero between calls.
	calling time.Time
	// closed means that no more events will be queued; over means that no more events will be delivered.
	closed, over bool
	err          error
	// done is closed when deliver has returned. It is nil if there is no goroutine.
	done chan struct{}
}

func observe(observer func(Event), inline bool) *observation {
	o := &observation{observer: observer}
	o.ready.L = &o.mu
	if !inline {
		o.done = make(chan struct{})
		go o.deliver()
	}
	return o
}

// queueEvent queues an event. If the queue is full, it drops the event unless this is the last event of its node.
func (o *observation) queueEvent(e Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over || o.done != nil && !e.last() && len(o.queue)-o.head >= eventBuffer {
		return
	}
	if o.head > 0 && o.head >= len(o.queue)/2 {
		rest := copy(o.queue, o.queue[o.head:])
		clear(o.queue[rest:])
		o.queue, o.head = o.queue[:rest], 0
	}
	o.queue = append(o.queue, e)
	o.ready.Signal()
}

// deliver is the goroutine of an observation.
func (o *observation) deliver() {
	defer close(o.done)
	defer o.left()
	for {
		o.mu.Lock()
		for !o.over && !o.closed && o.head == len(o.queue) {
			o.ready.Wait()
		}
		if o.over || o.head == len(o.queue) {
			o.mu.Unlock()
			return
		}
		e := o.queue[o.head]
		o.calling = time.Now()
		o.mu.Unlock()
		err := o.call(e)
		o.returned(err)
	}
}

// flush delivers all events on the caller's goroutine.
func (o *observation) flush() {
	for !o.over && o.head < len(o.queue) {
		o.calling = time.Now()
		o.returned(o.call(o.queue[o.head]))
	}
}

func (o *observation) call(e Event) (err error) {
	defer recovered(&err)
	o.observer(e)
	return nil
}

// returned is called when the observer has returned from a call.
func (o *observation) returned(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calling = time.Time{}
	if err != nil {
		o.fail(err)
	}
	if !o.over {
		o.queue[o.head] = Event{}
		o.head++
	}
}

// left is called when the goroutine ends. If it ends during a call, the observer has called runtime.Goexit.
func (o *observation) left() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.calling.IsZero() {
		o.fail(&GoexitError{Stack: debug.Stack()})
	}
}

// fail ends the observation. The caller holds mu.
func (o *observation) fail(err error) {
	if !o.over {
		o.over = true
		o.err = &ObserverError{Undelivered: len(o.queue) - o.head, Err: err}
		o.queue, o.head = nil, 0
	}
}

// end waits until all events are delivered, or until a call of the observer has taken too long.
func (o *observation) end() error {
	if o.done == nil {
		o.flush()
		return o.err
	}
	o.mu.Lock()
	o.closed = true
	o.ready.Signal()
	o.mu.Unlock()
	ended := time.Now()
	timer := time.NewTimer(ObserverPatience)
	defer timer.Stop()
	for {
		select {
		case <-o.done:
			return o.err
		case <-timer.C:
		}
		o.mu.Lock()
		since := ended
		if o.calling.IsZero() {
			since = time.Now()
		} else if o.calling.After(ended) {
			since = o.calling
		}
		if wait := ObserverPatience - time.Since(since); wait > 0 {
			timer.Reset(wait)
			o.mu.Unlock()
			continue
		}
		o.fail(ErrObserverBlocked)
		err := o.err
		o.mu.Unlock()
		return err
	}
}

// EventKind is the kind of an [Event].
type EventKind string

// The kinds of events. The last event of each node is EventFinished or EventBlocked.
const (
	// EventStarted reports that the visit of a node begins.
	EventStarted EventKind = "started"
	// EventWaiting reports that a predicate has returned false for the first time. It will be called again, and the
	// node may still start.
	EventWaiting EventKind = "waiting"
	// EventFinished reports that a visit has returned, or was abandoned.
	EventFinished EventKind = "finished"
	// EventBlocked reports that a node won't be started in this run.
	EventBlocked EventKind = "blocked"
)

// Event is something that happened to a node during a run.
type Event struct {
	// Kind is what happened.
	Kind EventKind
	// Name is the name of the node.
	Name string
	// Time is when it happened. The event may be delivered later.
	Time time.Time
	// Outcome is the outcome of a finished node, and OutcomeUnstarted in all other events.
	Outcome Outcome
	// Duration is how long the visit of a finished node took.
	Duration time.Duration
	// Err is the error of a finished node, or of the predicate that blocks a node.
	Err error
	// Reason is why a node waits or is blocked, as in [State.Reason]. If several dependencies hold a node back, the
	// final State may name another of them.
	Reason string
}

// String returns the event as a line without its time, as in "finished db: verified in 2s".
func (e Event) String() string {
	text := fmt.Sprintf("%s %s", e.Kind, e.Name)
	switch {
	case e.Kind == EventFinished && e.Err != nil:
		return fmt.Sprintf("%s: %s in %s: %v", text, e.Outcome, e.Duration, e.Err)
	case e.Kind == EventFinished:
		return fmt.Sprintf("%s: %s in %s", text, e.Outcome, e.Duration)
	case e.Reason != "":
		return text + ": " + e.Reason
	}
	return text
}

// last reports whether no further event of the node follows.
func (e Event) last() bool { return e.Kind == EventFinished || e.Kind == EventBlocked }
