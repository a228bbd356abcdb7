package explore

import (
	"fmt"
	"time"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// busiest is how many reconciles of a minute in which nothing happens are no finding: two a second.
const busiest = 120

// leftAlone is the life of a resource that nobody touches for a minute. of is the name of the life in which it goes on.
func leftAlone(of string, sample *unstructured.Unstructured) life {
	return life{
		name: of + " for a minute", resource: sample, first: 2,
		again:    func(resource *unstructured.Unstructured) life { return leftAlone(of, resource) },
		chapters: []chapter{create(sample), {name: "a minute passes", begin: func(*reconciletest.Harness) error { return nil }, idle: true}},
	}
}

// busy lets a minute pass in which nothing happens, and finds an operator that reconciles again and again.
func busy(h *reconciletest.Harness) []fault {
	reconciles := let(h, time.Minute, busiest)
	if reconciles <= busiest {
		return nil
	}
	last := h.Runs()[len(h.Runs())-1]
	return []fault{{"the operator never rests though nothing happens", []string{fmt.Sprintf(
		"%s: %d reconciles in less than a minute, the last one ended with: again after %s", refName(last.Key), reconciles, last.Result.RequeueAfter,
	)}}}
}

// let lets a time pass, or less if there were more reconciles than a number before. It returns how many there were.
func let(h *reconciletest.Harness, d time.Duration, most int) (reconciles int) {
	before := len(h.Runs())
	for step := time.Second; d > 0 && reconciles <= most; step *= 2 {
		h.Advance(min(step, d))
		d -= step
		reconciles = len(h.Runs()) - before
	}
	return reconciles
}
