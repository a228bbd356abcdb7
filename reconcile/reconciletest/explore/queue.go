package explore

import (
	"cmp"
	"container/heap"
)

// queue has jobs in the order in which they are tried: single disturbances before pairs, then one of which the fewest
// with its key were tried, with its request's number, and of its task, and that was added first. What is counted only
// grows, so the numbers of a job are brought up to date when it comes to the front. The zero value is empty.
type queue struct {
	jobs  byOrder
	added int
}

// add adds the jobs of a task.
func (q *queue) add(t *task) {
	for _, j := range t.jobs {
		j.nth = q.added
		q.added++
		heap.Push(&q.jobs, j)
	}
	t.jobs = nil
}

// least returns the first job, nil if there is none. tried counts what was tried, by key and by point. For a pair of
// disturbances it counts as one more: beside another queue it comes after a disturbance of which none was tried.
func (q *queue) least(tried map[string]int) *job {
	for len(q.jobs) > 0 {
		first := q.jobs[0]
		fewest := tried[first.key] + len(first.before)
		if first.fewest == fewest && first.atPoint == tried[first.point] && first.inTask == first.tried {
			return first
		}
		first.fewest, first.atPoint, first.inTask = fewest, tried[first.point], first.tried
		heap.Fix(&q.jobs, 0)
	}
	return nil
}

// take removes the first job.
func (q *queue) take() { heap.Pop(&q.jobs) }

// byOrder implements heap.Interface.
type byOrder []*job

func (b byOrder) Len() int { return len(b) }

func (b byOrder) Less(x, y int) bool {
	j, other := b[x], b[y]
	return cmp.Or(
		cmp.Compare(len(j.before), len(other.before)), cmp.Compare(j.fewest, other.fewest),
		cmp.Compare(j.atPoint, other.atPoint), cmp.Compare(j.inTask, other.inTask), cmp.Compare(j.nth, other.nth),
	) < 0
}

func (b byOrder) Swap(x, y int) { b[x], b[y] = b[y], b[x] }

func (b *byOrder) Push(x any) { *b = append(*b, x.(*job)) }

func (b *byOrder) Pop() any {
	last := (*b)[len(*b)-1]
	(*b)[len(*b)-1] = nil
	*b = (*b)[:len(*b)-1]
	return last
}
