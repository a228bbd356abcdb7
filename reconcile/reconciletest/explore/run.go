package explore

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Run explores an operator with a controller of sessions. controller makes the controller anew for each process of the
// operator. Each finding fails the test. A mistake in the options ends it.
func Run[C reconcile.Controller](t *testing.T, controller func() C, opts ...Option) {
	t.Helper()
	run(t, controller, opts, startSessions[C])
}

// Drive is Run for a controller of any style, see reconciletest.Drive.
func Drive[C watch.Controller](t *testing.T, controller func() C, opts ...Option) {
	t.Helper()
	run(t, controller, opts, startDriven[C])
}

// starter starts a controller on a new cluster.
type starter[C any] func(trial reconciletest.T, controller C, options []reconciletest.Option) *reconciletest.Harness

func startSessions[C reconcile.Controller](trial reconciletest.T, controller C, options []reconciletest.Option) *reconciletest.Harness {
	return reconciletest.New(trial, controller, options...)
}

func startDriven[C watch.Controller](trial reconciletest.T, controller C, options []reconciletest.Option) *reconciletest.Harness {
	return reconciletest.Drive(trial, controller, options...)
}

type controlling interface {
	Kind() schema.GroupVersionKind
}

func run[C controlling](t *testing.T, controller func() C, opts []Option, start starter[C]) {
	t.Helper()
	opts, err := lengthened(opts, os.Getenv(lengthVariable))
	if err != nil {
		t.Fatalf("explore: %v", err)
	}
	o, err := newOptions(opts)
	if err != nil {
		t.Fatalf("explore: %v", err)
	}
	report, err := explorerOf(t, controller, o, start).explore()
	for _, finding := range report.findings {
		t.Errorf("%s", finding.story())
	}
	if err != nil {
		t.Fatalf("explore: %v", err)
	}
	t.Logf("%s", report.summary())
}

func explorerOf[C controlling](t *testing.T, controller func() C, o options, start starter[C]) *explorer {
	return &explorer{t: t, options: o, kind: controller().Kind(), reached: map[string]bool{}, volatile: map[string]bool{}, written: map[string]bool{}, start: func(trial *trial, reborn func(), more ...reconciletest.Option) *reconciletest.Harness {
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
	agenda  agenda
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
	if err := e.search(lives); err != nil {
		return e.report, err
	}
	e.left = e.leftOut()
	for i, f := range e.findings {
		if f.file == "" && !e.hangs {
			e.findings[i] = e.shrink(f, executions)
		}
	}
	return e.report, cmp.Or(e.keep(), e.draw())
}

// search replays what was found before, and looks for more.
func (e *explorer) search(lives []life) error {
	if err := e.replayCorpus(lives); err != nil {
		return err
	}
	e.agenda.lives = lives
	for _, l := range lives {
		if l.edited() {
			e.covered.planned(l)
		}
	}
	if err := e.work(); err != nil {
		return err
	}
	e.wander(e.agenda.lessons())
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

// unready returns the lives of a sample in each of which one of its workloads never becomes ready.
func (e *explorer) unready(known *lesson) (lives []life) {
	created := known.chapters[0]
	if known.life.sample == nil || len(created.ready) == 0 {
		return nil
	}
	for _, object := range slices.Sorted(maps.Keys(created.end)) {
		content := created.end[object]
		ref := deploy.RefOf(&unstructured.Unstructured{Object: content})
		metadata, _ := content["metadata"].(map[string]any)
		replicas, counted, _ := unstructured.NestedInt64(content, "spec", "replicas")
		holds := metadata["generateName"] == nil && (!counted || replicas > 0) && !e.options.ignoresPart(ref, "status")
		if known.began[object] == nil && holds && isWorkload(ref) {
			lives = append(lives, held(known.life.name, known.life.sample, object))
		}
	}
	return lives
}
