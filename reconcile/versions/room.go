package versions

import (
	"context"
	"time"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
)

// whenCrowded is when to try again to start a version although as many run as may.
const whenCrowded = time.Second

// makeRoom gives the version that is to be started a place among those that may run at once. If there is none left, the version that is
// unused for longest makes room.
func (p *Pool) makeRoom(ctx context.Context, needed *version) error {
	select {
	case p.room <- struct{}{}:
		defer func() { <-p.room }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	taken := 0
	var unused *version
	var since time.Time
	for _, v := range p.all() {
		placed, used, inUse := v.place()
		if placed {
			taken++
		}
		if placed && !inUse && (unused == nil || used.Before(since)) {
			unused, since = v, used
		}
	}
	if taken >= p.options.Limit && (unused == nil || !unused.stopIdle(0)) {
		return request.RetryAfter(whenCrowded, reconcile.Precondition("%d versions run, as many as may at once, and all are in use", taken))
	}
	needed.takePlace()
	return nil
}

// tidy stops what isn't used any more.
func (p *Pool) tidy() {
	ticker := time.NewTicker(max(p.options.Idle/4, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-ticker.C:
		}
		for _, v := range p.all() {
			v.stopIdle(p.options.Idle)
		}
	}
}
