package dag

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// ObserverPatience is how long a run that is over waits for a call of its observer to return.
	ObserverPatience = 5 * time.Second
	// eventBuffer is how many events may be undelivered before intermediate ones are lost.
	eventBuffer = 1024
)

// Observe has observer told what happens to the nodes, in the order in which it does, for
// progress displays, logs and metrics. nil is none.
//
// All calls come from one goroutine, which isn't one of those that visit: an observer can't
// slow a run. While it is more than a thousand events behind, it isn't told of further starts
// and waits. It is always told the last event of each node: no more than that one and the
// thousand are kept for it.
//
// Run returns after the last call has returned. An observer that blocks for longer than
// [ObserverPatience] after the end of the run, panics, or calls runtime.Goexit, isn't called
// again; Run returns an [*ObserverError] then, with the state. The run itself isn't touched.
//
// With Concurrency(0) there is no other goroutine: the observer is called on that of Run, at
// once, and takes its time. It loses nothing, and one that blocks holds up the run. A visit that
// calls runtime.Goexit ends the run there and then: that is the last it is told.
func Observe(observer func(Event)) Option { return func(c *config) { c.observer = observer } }

// ObserverError says that an observer did not learn of all events. The state of the run is
// complete all the same.
type ObserverError struct {
	// Undelivered is the number of events that it didn't learn of, or didn't return from.
	Undelivered int
	// Err is a [*PanicError], a [*GoexitError], or [ErrObserverBlocked].
	Err error
}

// ErrObserverBlocked says that a call of an observer didn't return.
var ErrObserverBlocked = fmt.Errorf("it blocked for %s after the end of the run", ObserverPatience)

// Error says what became of the observer.
func (e *ObserverError) Error() string {
	return fmt.Sprintf("observer: %v; events it didn't learn of: %d", e.Err, e.Undelivered)
}

// Unwrap is what happened to the observer.
func (e *ObserverError) Unwrap() error { return e.Err }

// observation is the way of events to an observer.
type observation struct {
	observer func(Event)

	mu    sync.Mutex
	ready sync.Cond
	// queue holds, from head on, what is to be delivered, beginning with what is being delivered.
	queue []Event
	head  int
	// calling is since when the observer has been at an event; zero between events.
	calling time.Time
	// closed is set when no more events come, over when none is delivered any more.
	closed, over bool
	err          error
	// done is closed when deliver has returned. nil where there is no goroutine.
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

// tell queues an event, or loses it when there are too many and a later one of its node follows.
func (o *observation) tell(e Event) {
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

// flush delivers on the caller's goroutine.
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

// returned notes that the observer has returned from an event.
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

// left notes when the observer has ended its goroutine.
func (o *observation) left() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.calling.IsZero() {
		o.fail(&GoexitError{Stack: debug.Stack()})
	}
}

// fail ends the observation. mu is held.
func (o *observation) fail(err error) {
	if !o.over {
		o.over = true
		o.err = &ObserverError{Undelivered: len(o.queue) - o.head, Err: err}
		o.queue, o.head = nil, 0
	}
}

// end delivers what is left, and waits for the observer as long as its calls return.
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

// conclude joins the error of a run with that of its observer.
func conclude(run, observer error) error {
	if observer == nil {
		return run
	}
	if run == nil {
		return fmt.Errorf("run: %w", observer)
	}
	return errors.Join(run, fmt.Errorf("run: %w", observer))
}
