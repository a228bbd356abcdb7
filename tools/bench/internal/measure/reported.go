package measure

import (
	"context"
	"path/filepath"

	"github.com/operkit/operkit/tools/bench/internal/program"
)

// facts records the figures of an operator's program and code, before it runs.
func (r *round) facts(context.Context) error {
	path := filepath.Join(r.Programs, r.operator)
	size, err := program.Size(path)
	if err != nil {
		return err
	}
	modules, err := program.Modules(path)
	if err != nil {
		return err
	}
	lines, err := program.Lines(filepath.Join(r.Sources, r.operator))
	r.figures["binary-mebibytes"] = float64(size) / (1 << 20)
	r.figures["modules"], r.figures["lines"] = float64(modules), float64(lines)
	return err
}

// hotEdits is how often one Bundle is edited without a pause.
const hotEdits = 1000

// hot counts how often an operator reconciles a Bundle that is edited again and again: the operator writes the status
// once for each generation that it has seen. In the end the children must match the last edit.
func (r *round) hot(ctx context.Context) error {
	if err := r.beginAndSettle(ctx); err != nil {
		return err
	}
	edited := r.Memory / 2
	for n := range hotEdits {
		if err := r.fleet.Edit(ctx, edited, edited+1, 2+n); err != nil {
			return err
		}
	}
	if _, err := r.ready.Await(ctx, edited, edited+1, 1+hotEdits); err != nil {
		return err
	}
	calls, err := r.settle(ctx)
	if err != nil {
		return err
	}
	r.figures["hot-statuses"] = float64(len(calls.Writes().Of("bundles.bench.operkit.dev/status")))
	return r.fleet.Check(ctx, r.Memory)
}
