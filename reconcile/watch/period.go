package watch

import (
	"math/rand/v2"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/queue"
	"github.com/operkit/operkit/reconcile/request"
)

// periodic is next, but for an object that exists no later than the period says. What is gone comes no more, unless its
// reconcile asked for it (spec: watch 13).
func (e *Engine) periodic(key deploy.Ref, next queue.Next) queue.Next {
	period := e.options.period
	if period == 0 || next.Unchanged || !e.owners.Known(key) {
		return next
	}
	period -= rand.N(period/10 + 1)
	if next.After > 0 && next.After <= period {
		return next
	}
	return queue.Next{After: period, Why: request.Periodic}
}
