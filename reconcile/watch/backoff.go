package watch

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/trigger"
)

// backoff doubles the time before each retry of an object up to a limit, less up to a tenth
// at random, so that objects that failed together don't come back together (spec: reconcile
// mistake 12). It is safe for concurrent use.
type backoff struct {
	first, limit time.Duration

	mu     sync.Mutex
	counts map[deploy.Ref]int
}

func newBackoff(first, limit time.Duration) *backoff {
	return &backoff{first: first, limit: limit, counts: map[deploy.Ref]int{}}
}

// next counts a failure and returns the time before the next try.
func (b *backoff) next(key deploy.Ref) time.Duration {
	b.mu.Lock()
	n := b.counts[key]
	b.counts[key]++
	b.mu.Unlock()
	delay := trigger.Delay(b.first, b.limit, n)
	return delay - rand.N(delay/10+1)
}

func (b *backoff) reset(key deploy.Ref) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.counts) > 0 {
		delete(b.counts, key)
	}
}

func (b *backoff) failures(key deploy.Ref) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.counts) == 0 {
		return 0
	}
	return b.counts[key]
}

// state is how many objects fail, and the longest time between two tries of one.
func (b *backoff) state() (failing int, longest time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	most := 0
	for _, n := range b.counts {
		most = max(most, n)
	}
	if most == 0 {
		return 0, 0
	}
	return len(b.counts), trigger.Delay(b.first, b.limit, most-1)
}
