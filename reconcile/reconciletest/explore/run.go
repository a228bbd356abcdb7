package explore

import (
	"os"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/watch"
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
	if controller == nil {
		t.Fatalf("explore: controller: nil: give a function that makes the controller")
	}
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
	t.Logf("%s", report.summary())
	if err != nil {
		t.Fatalf("explore: %v", err)
	}
}
