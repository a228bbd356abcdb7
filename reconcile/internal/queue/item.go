package queue

import (
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
)

// headStart is by how much what has been triggered so comes before what was merely listed: it takes the place of
// something that has waited that long already. So nothing waits for ever, however much is going on. The most urgent of
// triggers counts.
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
	// wanted: it waits, or has to be handed out again once it is done. running: somebody has it.
	wanted, running bool
	// dropped: what whoever has it asks for afterwards doesn't count.
	dropped  bool
	triggers request.Triggers
	// since is when it began to be wanted.
	since time.Time
	// turn orders what waits: when it was added, less its head start.
	turn time.Time
	// number tells items of one moment apart, the earlier ones first.
	number uint64
	// place is where it stands among those that wait.
	place int
	timer *time.Timer
}

// heaped are items by their turn.
type heaped []*item

func (h heaped) Len() int { return len(h) }

func (h heaped) Less(i, j int) bool {
	if h[i].turn.Equal(h[j].turn) {
		return h[i].number < h[j].number
	}
	return h[i].turn.Before(h[j].turn)
}

func (h heaped) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push implements heap.Interface.
func (h *heaped) Push(x any) {
	i := x.(*item)
	i.place = len(*h)
	*h = append(*h, i)
}

// Pop implements heap.Interface.
func (h *heaped) Pop() any {
	last := len(*h) - 1
	i := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return i
}
