package queue

import (
	"container/heap"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
)

// Queue holds keys. A key is handed out to one taker at a time; what is added meanwhile waits until it is done, once.
// Methods are safe for concurrent use. Make one by New.
type Queue struct {
	mu    sync.Mutex
	ready sync.Cond
	// items are the keys of which there is something to know.
	items map[deploy.Ref]*item
	// waiting are those that can be handed out; again counts those that have to be once they are done.
	waiting heaped
	again   int
	// timers counts those of all items.
	timers int
	added  uint64
	// taken is when a key was last handed out.
	taken  time.Time
	closed bool
}

// New returns an empty Queue.
func New() *Queue {
	q := &Queue{items: map[deploy.Ref]*item{}}
	q.ready.L = &q.mu
	return q
}

// Add has key handed out, for what has happened in all since it was last handed out.
func (q *Queue) Add(key deploy.Ref, triggers request.Triggers) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(q.item(key), triggers)
}

func (q *Queue) item(key deploy.Ref) *item {
	i := q.items[key]
	if i == nil {
		i = &item{key: key}
		q.items[key] = i
	}
	return i
}

// stop ends the timer of an item, if it has one.
func (q *Queue) stop(i *item) {
	if i.timer != nil {
		i.timer.Stop()
		i.timer = nil
		q.timers--
	}
}

// forget drops an item of which there is nothing left to know.
func (q *Queue) forget(i *item) {
	if !i.wanted && !i.running && i.timer == nil {
		delete(q.items, i.key)
	}
}

func (q *Queue) add(i *item, triggers request.Triggers) {
	if q.closed {
		return
	}
	now := time.Now()
	turn := now.Add(-headStart(triggers))
	if i.wanted {
		i.triggers |= triggers
		if turn.Before(i.turn) {
			if i.turn = turn; !i.running {
				heap.Fix(&q.waiting, i.place)
			}
		}
		return
	}
	q.added++
	i.wanted, i.triggers, i.since, i.turn, i.number = true, triggers, now, turn, q.added
	if i.running {
		q.again++
	} else {
		q.push(i)
	}
}

func (q *Queue) push(i *item) {
	heap.Push(&q.waiting, i)
	q.ready.Signal()
}

// after has an item added once a time is over. It has one timer: another call replaces it.
func (q *Queue) after(i *item, after time.Duration, triggers request.Triggers) {
	q.stop(i)
	var timer *time.Timer
	timer = time.AfterFunc(after, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if i.timer == timer { // not replaced in the very moment
			i.timer = nil
			q.timers--
			q.add(i, triggers)
		}
	})
	i.timer = timer
	q.timers++
}

// Cancel stops the timer of key, if it has one; whoever has the key can't set another one. It still waits if it did.
func (q *Queue) Cancel(key deploy.Ref) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := q.items[key]; i != nil {
		q.stop(i)
		i.dropped = i.running
		q.forget(i)
	}
}

// Drop forgets key: it doesn't wait any more, its timer is stopped, and whoever has it can't set another one. What is added
// afterwards counts.
func (q *Queue) Drop(key deploy.Ref) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := q.items[key]
	if i == nil {
		return
	}
	q.stop(i)
	switch {
	case i.wanted && i.running:
		q.again--
	case i.wanted:
		heap.Remove(&q.waiting, i.place)
	}
	i.wanted, i.dropped = false, i.running
	q.forget(i)
}

// Taken is a key that is handed out. The zero value is none.
type Taken struct {
	Key deploy.Ref
	// Triggers are all that has happened since the key was last handed out.
	Triggers request.Triggers
	// Waited is for how long the key has been wanted.
	Waited time.Duration
	item   *item
}

// Next says when a key that was taken comes again by itself: After a time if that is positive, because of Why; never for
// the zero value. Unchanged leaves it as it was.
type Next struct {
	After     time.Duration
	Why       request.Triggers
	Unchanged bool
}

// Take ends the work on what the taker had, which waits again if something happened meanwhile, and waits for the next key.
// It answers false once the queue is closed. Of a key that was dropped
// while it was taken dropped is told, before anybody else can take it.
func (q *Queue) Take(done Taken, next Next, dropped func(deploy.Ref)) (taken Taken, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.done(done, next, dropped)
	for len(q.waiting) == 0 && !q.closed {
		q.ready.Wait()
	}
	if q.closed {
		return Taken{}, false
	}
	i := heap.Pop(&q.waiting).(*item)
	i.wanted, i.running = false, true
	q.taken = time.Now()
	return Taken{i.key, i.triggers, q.taken.Sub(i.since), i}, true
}

func (q *Queue) done(taken Taken, next Next, dropped func(deploy.Ref)) {
	i := taken.item
	if i == nil || !i.running || q.closed {
		return
	}
	switch {
	case i.dropped:
		dropped(i.key)
	case next.After > 0:
		q.after(i, next.After, next.Why)
	case !next.Unchanged:
		q.stop(i)
	}
	i.running, i.dropped = false, false
	if i.wanted {
		q.again--
		q.push(i)
	}
	q.forget(i)
}

// Len is how many keys wait, those that are worked on and have to be again included.
func (q *Queue) Len() int { return q.State().Waiting }

// State is what a Queue holds at one moment.
type State struct {
	// Waiting is how many keys wait, those that are worked on and have to be again included; Timers how many come with time.
	Waiting, Timers int
	// Taken is when a key was last handed out, zero if none was.
	Taken time.Time
}

// State says what the queue holds. It takes the same short time however much that is.
func (q *Queue) State() State {
	q.mu.Lock()
	defer q.mu.Unlock()
	return State{Waiting: len(q.waiting) + q.again, Timers: q.timers, Taken: q.taken}
}

// Close ends every Take, and drops what waits.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, i := range q.items {
		q.stop(i)
	}
	q.items, q.waiting, q.again = map[deploy.Ref]*item{}, nil, 0
	q.ready.Broadcast()
}
