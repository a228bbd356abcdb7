package queue

import (
	"container/heap"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// lane is a kind with a limit. parked are its items that could be handed out if fewer were.
type lane struct {
	limit, running int
	parked         byTurn
}

// Limit sets how many keys of a kind are handed out at a time: at most n. Zero holds them all back until another Limit.
func (q *Queue) Limit(kind schema.GroupKind, n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.lanes[kind] == nil {
		q.lanes[kind] = &lane{}
	}
	lane := q.lanes[kind]
	lane.limit = n
	for len(lane.parked) > 0 {
		q.push(heap.Pop(&lane.parked).(*item))
	}
}

// DropKind drops all keys of a kind, as Drop does, and its limit.
func (q *Queue) DropKind(kind schema.GroupKind) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for key, i := range q.items {
		if key.Kind.GroupKind() == kind {
			q.drop(i)
		}
	}
	delete(q.lanes, kind)
}

// admitted returns i, or nil if its kind has reached its limit. Then i is parked.
func (q *Queue) admitted(i *item) *item {
	lane := q.lanes[i.key.Kind.GroupKind()]
	switch {
	case lane == nil:
		return i
	case lane.running >= lane.limit:
		i.in = &lane.parked
		heap.Push(i.in, i)
		return nil
	}
	lane.running++
	i.lane = lane
	return i
}

// release makes room for another item of the kind of i.
func (q *Queue) release(i *item) {
	lane := i.lane
	if lane == nil {
		return
	}
	i.lane = nil
	lane.running--
	q.unpark(lane)
}

// unpark lets an item of a lane wait with the others if the lane has room. Then at least one item of a lane with room
// waits there as long as items are parked.
func (q *Queue) unpark(lane *lane) {
	if lane != nil && lane.running < lane.limit && len(lane.parked) > 0 {
		q.push(heap.Pop(&lane.parked).(*item))
	}
}
