package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/tools/bench/internal/bundles"
	"github.com/operkit/operkit/tools/bench/internal/plane"
	"github.com/operkit/operkit/tools/bench/internal/program"
	"github.com/operkit/operkit/tools/envtest/audit"
)

// Figures are the results of a round, by name; the name includes the unit.
type Figures map[string]float64

// round is one operator on one control plane.
type round struct {
	Settings
	operator   string
	kubeconfig string
	log        string
	plane      *plane.Plane
	fleet      *bundles.Fleet
	ready      *bundles.Readiness
	calls      *plane.Tail
	process    *program.Process
	running    bool
	// cpu is the processor time of the operator's processes that have ended.
	cpu     time.Duration
	figures Figures
	// asked counts the operator's requests in the present phase.
	asked map[string]int
}

// phase is one phase of a round.
type phase struct {
	name string
	run  func(r *round, ctx context.Context) error
}

// Main measures an operator on a new control plane, in all phases from its start to the deletion of all Bundles.
func Main(ctx context.Context, s Settings, operator string, progress io.Writer) (Figures, error) {
	return run(ctx, s, operator, progress, []phase{
		{"facts", (*round).facts}, {"start", (*round).starts}, {"burst", (*round).burst}, {"idle", (*round).idle}, {"restart", (*round).restart}, {"drift", (*round).drift},
		{"update", (*round).update}, {"delete", (*round).delete}, {"memory", (*round).memory}, {"end", (*round).end},
		{"hot", (*round).hot}, {"stop", (*round).stop},
	})
}

// Scale measures the memory of an operator with very many Bundles, and how long it takes to start with them.
func Scale(ctx context.Context, s Settings, operator string, progress io.Writer) (Figures, error) {
	return run(ctx, s, operator, progress, []phase{{"grow", (*round).grow}, {"restart", (*round).restartGrown}, {"end", (*round).stop}})
}

// Faults measures how long an operator takes for a burst if a share of its requests fails.
func Faults(ctx context.Context, s Settings, operator string, progress io.Writer) (Figures, error) {
	return run(ctx, s, operator, progress, []phase{{"faults", (*round).faults}, {"end", (*round).stop}})
}

// run goes through phases on a fresh control plane.
func run(ctx context.Context, s Settings, operator string, progress io.Writer, phases []phase) (figures Figures, err error) {
	p, err := plane.Start(ctx, s.Definitions, progress)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Stop(ctx)) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &round{Settings: s, operator: operator, plane: p, log: filepath.Join(s.Logs, operator+".log"), figures: Figures{}}
	defer r.abandon()
	if err := r.prepare(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", operator, err)
	}
	for _, phase := range phases {
		began := time.Now()
		r.asked = map[string]int{}
		if err := r.within(ctx, phase.run); err != nil {
			return nil, fmt.Errorf("%s: %s: %w; see %s", operator, phase.name, err, r.log)
		}
		_, _ = fmt.Fprintf(progress, "  %-18s %-8s %6.1f s  %s\n", operator, phase.name, time.Since(began).Seconds(), summary(r.asked))
	}
	return r.figures, nil
}

// abandon ends an operator that still runs, because a phase has failed.
func (r *round) abandon() {
	if r.running {
		_, _ = r.process.Stop() // the phase has returned its error already
	}
}

func (r *round) prepare(ctx context.Context) (err error) {
	if r.kubeconfig, err = r.plane.Kubeconfig(ctx, r.operator, ""); err != nil {
		return err
	}
	if r.fleet, err = bundles.New(r.plane.Admin, plane.Namespace); err != nil {
		return err
	}
	if r.ready, err = r.fleet.Follow(ctx); err != nil {
		return err
	}
	r.calls, err = r.plane.Follow(ctx, r.operator)
	return err
}

// within runs a phase with the time limit patience.
func (r *round) within(ctx context.Context, phase func(*round, context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it took more than %s", patience))
	defer cancel()
	return phase(r, ctx)
}

// summary returns the calls of a phase as text, the most frequent first.
func summary(asked map[string]int) string {
	var calls []string
	for _, call := range slices.SortedFunc(maps.Keys(asked), func(a, b string) int {
		return cmp.Or(cmp.Compare(asked[b], asked[a]), cmp.Compare(a, b))
	}) {
		calls = append(calls, fmt.Sprintf("%d %s", asked[call], call))
	}
	return strings.Join(calls, ", ")
}

// begin starts the operator.
func (r *round) begin(ctx context.Context) (err error) {
	r.process, err = program.Start(context.WithoutCancel(ctx), filepath.Join(r.Programs, r.operator), r.log, Arguments(r.operator, r.kubeconfig)...)
	r.running = err == nil
	return err
}

// Arguments returns the arguments for an operator.
func Arguments(operator, kubeconfig string) []string {
	common := []string{"--kubeconfig", kubeconfig, "--namespace", plane.Namespace}
	if strings.HasPrefix(operator, "operkit") {
		return append([]string{"run", "--watch.workers", "8", "--kube-api.qps", "1000", "--kube-api.burst", "2000"}, common...)
	}
	return common
}

// halt stops the operator.
func (r *round) halt() error {
	took, err := r.process.Stop()
	r.cpu, r.running = r.cpu+took, false
	return err
}

// settle waits until the operator hasn't written for a while, and returns its calls since the last settle.
func (r *round) settle(ctx context.Context) (audit.Calls, error) {
	var all audit.Calls
	for last := time.Now(); time.Since(last) < quiet; {
		select {
		case <-ctx.Done():
			return all, fmt.Errorf("it doesn't stop writing: %w", context.Cause(ctx))
		case <-r.process.Ended():
			return all, errors.New("the operator ended by itself")
		case <-time.After(quiet / 8):
		}
		calls, err := r.calls.Next(ctx)
		if err != nil {
			return all, err
		}
		all = append(all, calls...)
		for call, times := range calls.Count() {
			r.asked[call] += times
		}
		if writes := calls.Writes(); len(writes) > 0 {
			last = writes[len(writes)-1].Received
		}
	}
	return all, nil
}
