package traps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/operkit/operkit/tools/bench/internal/measure"
	"github.com/operkit/operkit/tools/bench/internal/report"
)

// patience is how long one trap may take.
const patience = 2 * time.Minute

// releases are the releases of the operator that run one after the other. The last one runs twice.
var releases = []int{1, 2, 3, 3}

// trap is one situation to test.
type trap struct {
	// name is the correct behaviour.
	name string
	// bundle is the name of its Bundle; several traps may share one.
	bundle string
	// made is the run of the operator in which the Bundle is created; asked is the run in which ask is called. Runs
	// count from 1. If made is 0, ask itself creates the Bundle.
	made, asked int
	ask         func(ctx context.Context, s *scene) (answer, error)
}

// all has the traps in the order of the tables.
var all = []trap{
	{"a field dropped from the render disappears", "dropped", 1, 2, droppedField},
	{"a child dropped from the render disappears", "dropped", 1, 2, droppedChild},
	{"a scaler's replicas stay over 20 reconciles", "scaled", 0, 1, scaled},
	{"a sidecar injected by a mutating webhook stays, with 0 further writes", "injected", 0, 1, injected},
	{`defaulted and reordered lists and quantities ("1000m") cost 0 writes`, "written", 3, 4, written},
	{"a user's label stays", "labelled", 0, 1, labelled},
	{"a finalizer of others stays", "finalized", 0, 1, finalized},
	{"a child owned by someone else is refused, not taken", "refused", 0, 1, refused},
	{"two edits within a watch delay never create a doubled generateName child", "generated", 0, 4, generated},
	{"a conflict is quiet", conflictingBundle, 0, 1, conflicting},
	{"CR deleted and recreated under the same name in one second", "recreated", 0, 1, recreated},
	{"a child stuck in Terminating is waited for and named", "terminating", 0, 1, terminating},
}

// Count returns the number of traps.
func Count() int { return len(all) }

// answer reports whether an operator behaves correctly, with the evidence.
type answer struct {
	holds    bool
	evidence string
}

// stuckError reports a state that an operator didn't reach in time.
type stuckError struct{ what string }

func (e *stuckError) Error() string { return e.what }

// Run tests an operator in all traps, on one fresh control plane, and returns the results.
func Run(ctx context.Context, s measure.Settings, operator string, progress io.Writer) (traps []report.Trap, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st, err := newStage(ctx, s, operator, progress)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.close(ctx)) }()
	answers := make([]answer, len(all))
	for i, release := range releases {
		began := time.Now()
		if err := st.restart(ctx, release); err != nil {
			return nil, fmt.Errorf("%s: %w", operator, err)
		}
		if err := st.askAll(ctx, i+1, answers); err != nil {
			return nil, fmt.Errorf("%s: %w; see %s", operator, err, st.log)
		}
		_, _ = fmt.Fprintf(progress, "  %-18s traps of release %d  %6.1f s\n", operator, release, time.Since(began).Seconds())
	}
	for i, t := range all {
		traps = append(traps, report.Trap{Name: t.name, Operator: operator, Holds: answers[i].holds, Evidence: answers[i].evidence})
	}
	return traps, nil
}

// askAll calls the traps of a run, all at once, and creates the Bundles for traps of later runs.
func (st *stage) askAll(ctx context.Context, run int, answers []answer) error {
	var asking sync.WaitGroup
	failures := make([]error, len(all))
	made := map[string]bool{}
	for i, t := range all {
		s := &scene{stage: st, bundle: t.bundle}
		switch {
		case t.made == run && !made[t.bundle]:
			made[t.bundle] = true
			asking.Go(func() { failures[i] = s.create(ctx) })
		case t.asked == run:
			asking.Go(func() { answers[i], failures[i] = t.answered(ctx, s) })
		}
	}
	asking.Wait()
	return errors.Join(failures...)
}

// answered calls a trap, and turns a stuckError into an answer.
func (t trap) answered(ctx context.Context, s *scene) (answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it took more than %s", patience))
	defer cancel()
	got, err := t.ask(ctx, s)
	var stuck *stuckError
	if errors.As(err, &stuck) {
		return answer{false, stuck.what}, nil
	}
	if err != nil {
		return answer{}, fmt.Errorf("trap %q: %w", t.name, err)
	}
	return got, nil
}
