package measure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/tools/bench/internal/bundles"
	"github.com/operkit/operkit/tools/bench/internal/program"
	"github.com/operkit/operkit/tools/envtest/audit"
)

// starts measures the time from exec until the operator watches Bundles, several times.
func (r *round) starts(ctx context.Context) error {
	var times []float64
	for range r.Starts {
		if err := r.begin(ctx); err != nil {
			return err
		}
		at, err := r.firstWatch(ctx)
		if err != nil {
			return err
		}
		times = append(times, at.Sub(r.process.Started).Seconds())
		if err := r.halt(); err != nil {
			return err
		}
	}
	slices.Sort(times)
	r.cpu = 0 // don't count the starts as processor time of the run
	r.figures["start-seconds"] = (times[(len(times)-1)/2] + times[len(times)/2]) / 2
	return nil
}

// firstWatch waits until the operator watches Bundles, and returns when it has sent that request.
func (r *round) firstWatch(ctx context.Context) (time.Time, error) {
	for {
		calls, err := r.calls.Next(ctx)
		if err != nil {
			return time.Time{}, err
		}
		// The log has a second line for a watch when it ends. That may be a watch of the previous process.
		watches := calls.Watches().Of("bundles.bench.operkit.dev").Filter(func(call audit.Call) bool { return call.Received.After(r.process.Started) })
		if len(watches) > 0 {
			return watches[0].Received, nil
		}
		select {
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("it doesn't watch: %w", context.Cause(ctx))
		case <-r.process.Ended():
			return time.Time{}, errors.New("the operator ended by itself")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// beginAndSettle starts the operator and waits until it watches Bundles and has nothing to write.
func (r *round) beginAndSettle(ctx context.Context) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	if _, err := r.firstWatch(ctx); err != nil {
		return err
	}
	_, err := r.settle(ctx)
	return err
}

// burst creates all Bundles at once. Processor time and memory of the run are counted from here on.
func (r *round) burst(ctx context.Context) error {
	before, err := program.CPU(r.plane.APIServer())
	if err != nil {
		return err
	}
	r.figures["apiserver-cpu-seconds"] = -before.Seconds()
	if err := r.beginAndSettle(ctx); err != nil {
		return err
	}
	start := time.Now()
	if err := r.fleet.Create(ctx, 0, r.Bundles); err != nil {
		return err
	}
	end, err := r.ready.Await(ctx, 0, r.Bundles, 1)
	if err != nil {
		return err
	}
	calls, err := r.settle(ctx)
	if err != nil {
		return err
	}
	r.figures["burst-seconds"] = end.Sub(start).Seconds()
	r.figures["burst-last-call-seconds"] = lastCall(calls.Writes()).Sub(start).Seconds()
	r.figures["burst-writes"] = float64(len(calls.Writes())) / float64(r.Bundles)
	r.figures["burst-reads"] = float64(len(calls.Reads()))
	return r.fleet.Check(ctx, r.Bundles)
}

func lastCall(calls audit.Calls) time.Time {
	var last time.Time
	for _, call := range calls {
		if call.Received.After(last) {
			last = call.Received
		}
	}
	return last
}

// rest waits while nothing happens.
func (r *round) rest(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(r.Idle):
		return nil
	}
}

// idle counts the writes while nothing happens.
func (r *round) idle(ctx context.Context) error {
	if err := r.rest(ctx); err != nil {
		return err
	}
	calls, err := r.calls.Next(ctx)
	r.figures["idle-writes"] = float64(len(calls.Writes()))
	return err
}

// restart stops the operator, edits one Bundle meanwhile, and starts it again.
func (r *round) restart(ctx context.Context) error {
	took, writes, err := r.restarted(ctx)
	r.figures["restart-seconds"], r.figures["restart-writes"] = took.Seconds(), float64(writes)
	return err
}

// edited returns the Bundle that is edited while the operator is stopped: neither the first nor the last one of a list.
func (r *round) edited() int { return r.Bundles / 2 }

// restarted returns the time from exec until the edited Bundle is Ready again, and the number of other writes.
func (r *round) restarted(ctx context.Context) (took time.Duration, writes int, err error) {
	if err := r.halt(); err != nil {
		return 0, 0, err
	}
	edited := r.edited()
	if err := r.fleet.Edit(ctx, edited, edited+1, 2); err != nil {
		return 0, 0, err
	}
	if _, err := r.calls.Next(ctx); err != nil {
		return 0, 0, err
	}
	if err := r.begin(ctx); err != nil {
		return 0, 0, err
	}
	end, err := r.ready.Await(ctx, edited, edited+1, 2)
	if err != nil {
		return 0, 0, err
	}
	calls, err := r.settle(ctx)
	others := calls.Writes().Filter(func(call audit.Call) bool { return !strings.HasPrefix(call.Name, bundles.Name(edited)) })
	return end.Sub(r.process.Started), len(others), err
}

// driftTimes is how often the drift is repeated. A single drift takes half a second, in which the API server may or may
// not collect garbage, in the same way in each round.
const driftTimes = 5

// drift edits and deletes children as another client, a different one each time: operkit leaves a field to a client
// that sets it repeatedly.
func (r *round) drift(ctx context.Context) error {
	// The restart has edited one Bundle, so its edition differs from the others'.
	if err := r.fleet.Edit(ctx, 0, r.edited(), 2); err != nil {
		return err
	}
	if err := r.fleet.Edit(ctx, r.edited()+1, r.Bundles, 2); err != nil {
		return err
	}
	if _, err := r.ready.Await(ctx, 0, r.Bundles, 2); err != nil {
		return err
	}
	if _, err := r.settle(ctx); err != nil {
		return err
	}
	var took time.Duration
	writes := 0
	for n := range driftTimes {
		once, err := r.fleet.Drift(ctx, fmt.Sprintf("drift-%d", n), r.Drifts, 2)
		if err != nil {
			return err
		}
		calls, err := r.settle(ctx)
		if err != nil {
			return err
		}
		took, writes = took+once, writes+len(calls.Writes())
	}
	r.figures["drift-seconds"], r.figures["drift-writes"] = took.Seconds()/driftTimes, float64(writes)/driftTimes
	return r.fleet.Check(ctx, r.Bundles)
}

// update edits every Bundle.
func (r *round) update(ctx context.Context) error {
	start := time.Now()
	if err := r.fleet.Edit(ctx, 0, r.Bundles, 3); err != nil {
		return err
	}
	end, err := r.ready.Await(ctx, 0, r.Bundles, 3)
	if err != nil {
		return err
	}
	calls, err := r.settle(ctx)
	if err != nil {
		return err
	}
	r.figures["update-seconds"] = end.Sub(start).Seconds()
	r.figures["update-writes"] = float64(len(calls.Writes())) / float64(r.Bundles)
	return r.fleet.Check(ctx, r.Bundles)
}

// delete deletes every Bundle and waits until nothing is left of them.
func (r *round) delete(ctx context.Context) error {
	start := time.Now()
	if err := r.fleet.Delete(ctx, 0, r.Bundles); err != nil {
		return err
	}
	if err := r.fleet.AwaitGone(ctx); err != nil {
		return err
	}
	r.figures["delete-seconds"] = time.Since(start).Seconds()
	_, err := r.settle(ctx)
	return err
}

// fill creates Bundles up to a number, and waits until all are Ready and the operator has been quiet for a while.
func (r *round) fill(ctx context.Context, count int) error {
	if err := r.fleet.Create(ctx, 0, count); err != nil {
		return err
	}
	if _, err := r.ready.Await(ctx, 0, count, 1); err != nil {
		return err
	}
	if _, err := r.settle(ctx); err != nil {
		return err
	}
	return r.rest(ctx)
}

// memory creates the Bundles for the measurement of memory, waits until the operator is quiet, and measures its memory.
func (r *round) memory(ctx context.Context) error {
	if err := r.fill(ctx, r.Memory); err != nil {
		return err
	}
	r.figures["rss-peak-mebibytes"] = float64(r.process.Peak()) / (1 << 20)
	rest, err := r.process.Memory()
	r.figures["rss-rest-mebibytes"] = float64(rest) / (1 << 20)
	return err
}

// end stops the operator and records the processor time of the run.
func (r *round) end(context.Context) error {
	if err := r.halt(); err != nil {
		return err
	}
	after, err := program.CPU(r.plane.APIServer())
	r.figures["cpu-seconds"] = r.cpu.Seconds()
	r.figures["apiserver-cpu-seconds"] += after.Seconds()
	return err
}
