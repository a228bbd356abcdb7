package explore

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func explorerOf[C controlling](t *testing.T, controller func() C, o options, start starter[C]) *explorer {
	return &explorer{t: t, options: o, kind: controller().Kind(), reached: map[string]bool{}, volatile: map[string]bool{}, written: map[string]bool{}, pauses: map[string]bool{}, start: func(trial *trial, reborn func(), more ...reconciletest.Option) *reconciletest.Harness {
		renew := reconciletest.Renew(func() C {
			reborn()
			return controller()
		})
		return start(trial, controller(), slices.Concat([]reconciletest.Option{
			reconciletest.Definitions(o.definitions...), renew, reconciletest.Observe(trial.observe), reconciletest.Events(trial),
			reconciletest.Heartbeat(o.ignoresCall),
		}, o.harness, more))
	}}
}

// explorer explores one operator.
type explorer struct {
	t       *testing.T
	options options
	// kind is the kind of the resources, and start starts an operator on a new cluster. It calls reborn when the
	// operator is made anew.
	kind  schema.GroupVersionKind
	start func(trial *trial, reborn func(), more ...reconciletest.Option) *reconciletest.Harness
	// reached are the states in which an operator was made anew while nothing more was to happen.
	reached map[string]bool
	// volatile are the volatile fields of all lives so far.
	volatile map[string]bool
	// written are the writes of all edited lives so far, see novel.
	written map[string]bool
	// pauses are the fields of which an edit makes the operator leave a new resource alone.
	pauses map[string]bool
	// others are objects of others that the operator may depend on.
	others []dependency
	agenda agenda
	// hangs: an execution hangs, and more of them would.
	hangs bool
	// ends is when the time of the option For is over.
	ends     time.Time
	progress *progress
	atlas    *atlas
	report
}

// explore explores. With an error the report has what was found before it.
func (e *explorer) explore() (report, error) {
	e.ends = time.Now().Add(e.options.limit)
	e.progress = newProgress(os.Stderr)
	defer e.progress.end()
	if e.options.picture != "" {
		e.atlas = newAtlas()
	}
	lives, err := e.lives()
	if err != nil {
		return e.report, err
	}
	if e.options.replay != "" {
		err = e.replay(e.options.replay, lives, false)
		return e.report, cmp.Or(err, e.draw())
	}
	err = e.search(lives)
	e.left = e.leftOut()
	for i, f := range e.findings {
		if f.file == "" && !e.hangs {
			e.findings[i] = e.shrink(f, executions)
		}
	}
	return e.report, cmp.Or(err, e.keep(), e.draw())
}

// search replays what was found before, and looks for more.
func (e *explorer) search(lives []life) error {
	if err := e.replayCorpus(lives); err != nil {
		return err
	}
	e.agenda = newAgenda()
	for _, l := range lives {
		if l.paired() {
			e.agenda.paired = append(e.agenda.paired, l)
		} else {
			e.agenda.lives = append(e.agenda.lives, l)
		}
		if l.edited() {
			e.covered.planned(l)
		}
	}
	if err := e.work(); err != nil {
		return err
	}
	e.wander(e.agenda.learned)
	return nil
}

// draw writes the picture of the option Picture.
func (e *explorer) draw() error {
	if e.atlas == nil {
		return nil
	}
	for i, f := range e.findings {
		e.atlas.mark(f.first, i+1)
	}
	if err := writeFile(e.options.picture, e.atlas.svg(e.findings)); err != nil {
		return fmt.Errorf("picture %s: %w: give a file that the test can write", e.options.picture, err)
	}
	return nil
}
