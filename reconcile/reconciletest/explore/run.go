package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

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
	o, err := newOptions(opts)
	if err != nil {
		t.Fatalf("explore: %v", err)
	}
	report, err := explorerOf(t, controller, o, start).explore()
	if err != nil {
		t.Fatalf("explore: %v", err)
	}
	for _, finding := range report.findings {
		t.Errorf("%s", finding.story())
	}
	t.Logf("%s", report)
}

func explorerOf[C controlling](t *testing.T, controller func() C, o options, start starter[C]) *explorer {
	return &explorer{t: t, options: o, kind: controller().Kind(), reached: map[string]bool{}, start: func(trial *trial, reborn func(), more ...reconciletest.Option) *reconciletest.Harness {
		renew := reconciletest.Renew(func() C {
			reborn()
			return controller()
		})
		return start(trial, controller(), slices.Concat([]reconciletest.Option{
			reconciletest.Definitions(o.definitions...), renew, reconciletest.Observe(trial.observe), reconciletest.Events(trial),
		}, o.harness, more))
	}}
}

// explorer explores one operator.
type explorer struct {
	t       *testing.T
	options options
	// kind is the kind of the resources, and start starts an operator on a new cluster. It calls reborn when the operator
	// is made anew.
	kind  schema.GroupVersionKind
	start func(trial *trial, reborn func(), more ...reconciletest.Option) *reconciletest.Harness
	// reached are the states in which an operator was made anew while nothing more was to happen.
	reached map[string]bool
	report
}

func (e *explorer) explore() (report, error) {
	lives, err := e.lives()
	if err != nil {
		return e.report, err
	}
	if e.options.replay != "" {
		return e.report, e.replay(lives)
	}
	var learned []*lesson
	for i := 0; i < len(lives) && !e.spent(); i++ {
		if lives[i].by != nil && e.visited > e.options.states/2 {
			break // the other half is for disturbances
		}
		known, err := e.learn(lives[i])
		if err != nil {
			return e.report, fmt.Errorf("%s: %w", lives[i], err)
		}
		if known == nil {
			continue
		}
		lives = slices.Insert(lives, i+1, e.unready(known)...)
		learned = append(learned, known)
	}
	for _, known := range learned {
		e.disturbAll(known)
	}
	e.wander(learned)
	return e.report, nil
}

// unready returns the lives of a sample in each of which one of its workloads never becomes ready.
func (e *explorer) unready(known *lesson) (lives []life) {
	created := known.chapters[0]
	if known.life.sample == nil || len(created.ready) == 0 {
		return nil
	}
	for _, object := range slices.Sorted(maps.Keys(created.end)) {
		kind, _, _ := strings.Cut(object, " ")
		content := created.end[object]
		metadata, _ := content["metadata"].(map[string]any)
		replicas, counted, _ := unstructured.NestedInt64(content, "spec", "replicas")
		holds := metadata["generateName"] == nil && (!counted || replicas > 0)
		if known.began[object] == nil && holds && slices.Contains(workloadKinds, kind) {
			lives = append(lives, held(known.life.sample, object))
		}
	}
	return lives
}

// replay follows the plan of one finding.
func (e *explorer) replay(lives []life) error {
	name, text := e.options.replay, ""
	if at := strings.LastIndex(name, " | "); at >= 0 {
		name, text = name[:at], name[at+len(" | "):]
	}
	var p plan
	if text != "" {
		var err error
		if p, err = parsePlan(text); err != nil {
			return err
		}
	}
	l, err := e.named(name, lives)
	if err != nil {
		return err
	}
	known, err := e.learn(l)
	if err == nil && known != nil {
		e.note(known.judge(e.follow(known, p, false)))
	}
	return err
}

// named returns the life of that name.
func (e *explorer) named(name string, lives []life) (life, error) {
	for _, l := range lives {
		if l.name == name {
			return l, nil
		}
		if l.sample == nil || !strings.HasPrefix(name, l.name+" while ") {
			continue
		}
		found := e.findings
		known, err := e.learn(l)
		e.findings = found
		if err != nil || known == nil {
			return l, err
		}
		for _, one := range e.unready(known) {
			if one.name == name {
				return one, nil
			}
		}
	}
	return life{}, fmt.Errorf("replay %q: no sample and no edit of it has this name: copy the line from a finding", e.options.replay)
}
