package measure

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/tools/bench/internal/faults"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// faultShare is the share of requests that fail.
const faultShare = 0.2

// grow creates all Bundles and measures the operator's memory.
func (r *round) grow(ctx context.Context) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	if err := r.fill(ctx, r.Bundles); err != nil {
		return err
	}
	memory, err := r.process.Memory()
	r.figures["scale-rss-kibibytes"] = float64(memory) / (1 << 10)
	return err
}

// restartGrown is restart with all Bundles of grow.
func (r *round) restartGrown(ctx context.Context) error {
	took, _, err := r.restarted(ctx)
	r.figures["scale-restart-seconds"] = took.Seconds()
	return err
}

// faults runs a burst through a proxy that fails a share of the operator's requests, different ones in each round. It
// starts when the operator is at rest.
func (r *round) faults(ctx context.Context) error {
	var failing atomic.Bool
	fault := faults.Dice(faultShare, uint64(r.Round))
	proxy, err := faults.Start(r.plane.Admin, faults.Hooks{Fault: func(request *http.Request) *apierrors.StatusError {
		if !failing.Load() {
			return nil
		}
		return fault(request)
	}})
	if err != nil {
		return err
	}
	defer func() { _ = proxy.Stop() }() // the operator doesn't need the proxy any more
	if r.kubeconfig, err = r.plane.Kubeconfig(ctx, r.operator+"-faults", proxy.Address()); err != nil {
		return err
	}
	if r.calls, err = r.plane.Follow(ctx, r.operator+"-faults"); err != nil {
		return err
	}
	if err := r.beginAndSettle(ctx); err != nil {
		return err
	}
	failing.Store(true)
	start := time.Now()
	if err := r.fleet.Create(ctx, 0, r.Bundles); err != nil {
		return err
	}
	end, err := r.ready.Await(ctx, 0, r.Bundles, 1)
	if err != nil {
		return err
	}
	if _, err := r.settle(ctx); err != nil {
		return err
	}
	r.figures["faults-seconds"] = end.Sub(start).Seconds()
	if err := r.fleet.Check(ctx, r.Bundles); err != nil {
		return err
	}
	return r.halt()
}

// stop stops the operator, if it still runs.
func (r *round) stop(context.Context) error {
	if !r.running {
		return nil
	}
	return r.halt()
}
