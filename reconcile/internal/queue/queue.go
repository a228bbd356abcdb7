package queue

import (
	"container/heap"
	"sync"
	"time"

	"github.com/operkit/operkit/reconcile/request"
)

// Queue holds keys. A key is handed out to one taker at a time; what is added meanwhile waits until it is done, once.
// Methods are safe for concurrent use. Make one by New.
type Queue struct {
	mu    sync.Mutex
	ready sync.Cond
	// items are the keys of which there is something to know.
	items map[request.Key]*item
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
	q := &Queue{items: map[request.Key]*item{}}
	q.ready.L = &q.mu
	return q
}

// Add has key handed out, for what has happened in all since it was last handed out.
func (q *Queue) Add(key request.Key, triggers request.Triggers) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(q.item(key), triggers)
}

func (q *Queue) item(key request.Key) *item {
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
	turn := time.Now().Add(-headStart(triggers))
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
	i.wanted, i.triggers, i.turn, i.number = true, triggers, turn, q.added
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

// After has key added once a time is over. A key has one timer: another call replaces it. One that was dropped since it
// was handed out gets none, which it answers.
func (q *Queue) After(key request.Key, after time.Duration, triggers request.Triggers) (dropped bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	i := q.item(key)
	if i.dropped {
		return true
	}
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
	return false
}

// Cancel stops the timer of key, if it has one. It answers whether key was dropped since it was handed out.
func (q *Queue) Cancel(key request.Key) (dropped bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := q.items[key]
	if i == nil {
		return false
	}
	q.stop(i)
	q.forget(i)
	return i.dropped
}

// Drop forgets key: it doesn't wait any more, its timer is stopped, and whoever has it can't set another one. What is added
// afterwards counts.
func (q *Queue) Drop(key request.Key) {
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

// Get waits for the next key and hands it out, with all that has happened; the taker says Done when it is. It answers
// false once the queue is closed.
func (q *Queue) Get() (key request.Key, triggers request.Triggers, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 && !q.closed {
		q.ready.Wait()
	}
	if q.closed {
		return request.Key{}, 0, false
	}
	i := heap.Pop(&q.waiting).(*item)
	i.wanted, i.running = false, true
	q.taken = time.Now()
	return i.key, i.triggers, true
}

// Done ends the work on key, which waits again if something happened meanwhile.
func (q *Queue) Done(key request.Key) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := q.items[key]
	if i == nil || !i.running {
		return
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

// Close ends every Get, and drops what waits.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, i := range q.items {
		q.stop(i)
	}
	q.items, q.waiting, q.again = map[request.Key]*item{}, nil, 0
	q.ready.Broadcast()
}
