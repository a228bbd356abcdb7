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
	added   uint64
	closed  bool
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

// After has key added once a time is over. A key has one timer: another call replaces it.
func (q *Queue) After(key request.Key, after time.Duration, triggers request.Triggers) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	i := q.item(key)
	i.stop()
	var timer *time.Timer
	timer = time.AfterFunc(after, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if i.timer == timer { // not replaced in the very moment
			i.timer = nil
			q.add(i, triggers)
		}
	})
	i.timer = timer
}

// Cancel stops the timer of key, if it has one.
func (q *Queue) Cancel(key request.Key) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := q.items[key]; i != nil {
		i.stop()
		q.forget(i)
	}
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
	i.running = false
	if i.wanted {
		q.again--
		q.push(i)
	}
	q.forget(i)
}

// Len is how many keys wait, those that are worked on and have to be again included.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) + q.again
}

// Close ends every Get, and drops what waits.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, i := range q.items {
		i.stop()
	}
	q.items, q.waiting, q.again = map[request.Key]*item{}, nil, 0
	q.ready.Broadcast()
}
