package explore

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// scanned returns the job that comes next, by looking at all.
func scanned(jobs []*job, tried map[string]int) (best *job) {
	rank := func(j *job) [5]int {
		return [5]int{len(j.before), tried[j.key] + len(j.before), tried[j.point], j.tried, j.nth}
	}
	for _, j := range jobs {
		if best == nil {
			best = j
		}
		for i, n := range rank(j) {
			if n != rank(best)[i] {
				if n < rank(best)[i] {
					best = j
				}
				break
			}
		}
	}
	return best
}

func TestQueue(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	q, tried, count := &queue{}, map[string]int{}, 0
	var left []*job
	for step := range 2000 {
		if step%20 == 0 && step < 1000 {
			added := &task{before: make([]armed, random.IntN(2))}
			for range random.IntN(60) {
				key := fmt.Sprint(random.IntN(30), len(added.before))
				added.jobs = append(added.jobs, &job{task: added, key: key, point: fmt.Sprint(key, " #", random.IntN(3))})
			}
			left = append(left, added.jobs...)
			q.add(added)
		}
		next := q.least(tried)
		if next != scanned(left, tried) {
			t.Fatalf("explore 48: job %d isn't the one of which the fewest were tried", step)
		}
		if next == nil {
			continue
		}
		q.take()
		tried[next.key]++
		tried[next.point]++
		next.task.tried++
		for i, j := range left {
			if j == next {
				left = append(left[:i], left[i+1:]...)
				break
			}
		}
		count++
	}
	t.Run("explore 48: those come first of which the fewest were tried", func(t *testing.T) {
		assert.Greater(t, count, 500)
		assert.Empty(t, left)
	})
}
