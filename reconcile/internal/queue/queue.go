package queue

import (
	"container/heap"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Queue holds keys. A key is handed out to one taker at a time; if it is added meanwhile, it is handed out again
// afterwards. Methods are safe for concurrent use. Use New to make one.
type Queue struct {
	mu    sync.Mutex
	ready sync.Cond
	items map[deploy.Ref]*item
	// waiting are the items that can be handed out; again counts the running items that are wanted again.
	waiting byTurn
	again   int
	// lanes are the kinds of which only some items may be handed out at a time.
	lanes map[schema.GroupKind]*lane
	// timers counts the timers of all items.
	timers int
	added  uint64
	// taken is when a key was last handed out.
	taken  time.Time
	closed bool
}

// New returns an empty Queue.
func New() *Queue {
	q := &Queue{items: map[deploy.Ref]*item{}, lanes: map[schema.GroupKind]*lane{}}
	q.ready.L = &q.mu
	return q
}

// Add adds key. The triggers of several calls add up until key is handed out.
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

// forget drops an item unless it is wanted, is running or has a timer.
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
				heap.Fix(i.in, i.place)
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
	i.in = &q.waiting
	heap.Push(i.in, i)
	q.ready.Signal()
}

// after adds an item after the given time. An item has one timer: another call replaces it.
func (q *Queue) after(i *item, after time.Duration, triggers request.Triggers) {
	q.stop(i)
	var timer *time.Timer
	timer = time.AfterFunc(after, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if i.timer == timer { // the timer wasn't replaced while it fired
			i.timer = nil
			q.timers--
			q.add(i, triggers)
		}
	})
	i.timer = timer
	q.timers++
}

// Cancel stops the timer of key, if it has one, and its present taker can't set another timer. A waiting key still
// waits.
func (q *Queue) Cancel(key deploy.Ref) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := q.items[key]; i != nil {
		q.stop(i)
		i.dropped = i.running
		q.forget(i)
	}
}

// Drop forgets key: it no longer waits, its timer is stopped, and its present taker can't set another timer. Add may
// add key again.
func (q *Queue) Drop(key deploy.Ref) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := q.items[key]; i != nil {
		q.drop(i)
	}
}

func (q *Queue) drop(i *item) {
	q.stop(i)
	switch {
	case i.wanted && i.running:
		q.again--
	case i.wanted:
		heap.Remove(i.in, i.place)
		q.unpark(q.lanes[i.key.Kind.GroupKind()])
	}
	i.wanted, i.dropped = false, i.running
	q.forget(i)
}

// Taken is a key that was handed out. The zero value is no key.
type Taken struct {
	Key deploy.Ref
	// Triggers are the triggers since the key was last handed out.
	Triggers request.Triggers
	// Waited is how long the key has waited since it was added.
	Waited time.Duration
	item   *item
}

// Next is when a taken key is added again without another Add: after the time After, if that is positive, with the
// trigger Why. The zero value means never. Unchanged keeps the present timer of the key.
type Next struct {
	After     time.Duration
	Why       request.Triggers
	Unchanged bool
}

// Take ends the work on done and waits for the next key. done is queued again if it was added meanwhile. Take returns
// false once the queue is closed. It calls dropped for a key that was dropped while it was taken, before it can be
// taken again.
func (q *Queue) Take(done Taken, next Next, dropped func(deploy.Ref)) (taken Taken, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.done(done, next, dropped)
	var i *item
	for i == nil {
		for len(q.waiting) == 0 && !q.closed {
			q.ready.Wait()
		}
		if q.closed {
			return Taken{}, false
		}
		i = q.admitted(heap.Pop(&q.waiting).(*item))
	}
	i.wanted, i.running = false, true
	q.taken = time.Now()
	return Taken{i.key, i.triggers, q.taken.Sub(i.since), i}, true
}

func (q *Queue) done(taken Taken, next Next, dropped func(deploy.Ref)) {
	i := taken.item
	if i == nil || !i.running || q.closed {
		return
	}
	isDropped := i.dropped
	for i.dropped { // again if it is dropped meanwhile
		i.dropped = false
		q.mu.Unlock()
		dropped(i.key) // may call the queue; the key isn't handed out before it has returned
		q.mu.Lock()
	}
	switch {
	case isDropped || q.closed:
	case next.After > 0:
		q.after(i, next.After, next.Why)
	case !next.Unchanged:
		q.stop(i)
	}
	i.running, i.dropped = false, false
	q.release(i)
	if i.wanted {
		q.again--
		q.push(i)
	}
	q.forget(i)
}

// Len returns how many keys wait, including keys that are worked on and wanted again.
func (q *Queue) Len() int { return q.State().Waiting }

// State is the state of a Queue at one moment.
type State struct {
	// Waiting is how many keys wait, including keys that are worked on and wanted again. Timers is how many keys have a
	// timer.
	Waiting, Timers int
	// Taken is when a key was last handed out, zero if none was.
	Taken time.Time
	// Full are the kinds of which keys wait because of their limit, with the limit. It is nil if there are none.
	Full map[schema.GroupKind]int
}

// State returns the state of the queue, in a time that depends only on the number of limits.
func (q *Queue) State() State {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := State{Waiting: len(q.waiting) + q.again, Timers: q.timers, Taken: q.taken}
	for kind, lane := range q.lanes {
		if len(lane.parked) == 0 {
			continue
		}
		s.Waiting += len(lane.parked)
		if s.Full == nil {
			s.Full = map[schema.GroupKind]int{}
		}
		s.Full[kind] = lane.limit
	}
	return s
}

// Close ends every Take, and drops all keys.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, i := range q.items {
		q.stop(i)
	}
	q.items, q.waiting, q.again = map[deploy.Ref]*item{}, nil, 0
	clear(q.lanes)
	q.ready.Broadcast()
}

// headStart returns the head start of a key with these triggers over a key whose only trigger is Listed. The key is
// queued as if it had waited that long already, so no key waits for ever. The most urgent trigger counts.
func headStart(triggers request.Triggers) time.Duration {
	switch {
	case triggers.Has(request.Deleting | request.Deleted):
		return time.Minute
	case triggers.Has(request.Forced):
		return 45 * time.Second
	case triggers.Has(request.External | request.Mapped | request.Followed | request.Child | request.Changed):
		return 30 * time.Second
	case triggers.Has(request.Periodic | request.Retry):
		return 5 * time.Second
	}
	return 0
}

// item is what is known of one key.
type item struct {
	key deploy.Ref
	// wanted: it waits, or has to be handed out again when it is done. running: a taker has it.
	wanted, running bool
	// dropped: the Next of its taker is ignored.
	dropped  bool
	triggers request.Triggers
	// since is when it was added.
	since time.Time
	// turn orders waiting items: when the item was added, less its head start.
	turn time.Time
	// number orders items with the same turn.
	number uint64
	// in are the items among which it waits, and place is its index there.
	in    *byTurn
	place int
	// lane is the lane in which it runs, nil for none.
	lane  *lane
	timer *time.Timer
}

// byTurn is a heap of items by their turn.
type byTurn []*item

func (h byTurn) Len() int { return len(h) }

func (h byTurn) Less(i, j int) bool {
	if h[i].turn.Equal(h[j].turn) {
		return h[i].number < h[j].number
	}
	return h[i].turn.Before(h[j].turn)
}

func (h byTurn) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push implements heap.Interface.
func (h *byTurn) Push(x any) {
	i := x.(*item)
	i.place = len(*h)
	*h = append(*h, i)
}

// Pop implements heap.Interface.
func (h *byTurn) Pop() any {
	last := len(*h) - 1
	i := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return i
}
