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

// pass lets a minute pass, or less if the operator reconciles too often.
func pass(h *reconciletest.Harness) error {
	before := len(h.Runs())
	for range 60 {
		if h.Advance(time.Second); len(h.Runs())-before > busiest {
			return &busyError{len(h.Runs()) - before, h.Runs()[len(h.Runs())-1]}
		}
	}
	return nil
}

// busyError is the error of an operator that reconciles again and again though nothing happens.
type busyError struct {
	count int
	last  reconciletest.Run
}

// Error returns the text of the error.
func (e *busyError) Error() string {
	return fmt.Sprintf("%s: %d reconciles in less than a minute, the last one ended with: again after %s", refName(e.last.Key), e.count, e.last.Result.RequeueAfter)
}

// busy is the finding of an operator that reconciles again and again though nothing happens, nil if it doesn't.
func (tr *trace) busy() *finding {
	if busy, is := tr.refused.(*busyError); is {
		return found(tr, len(tr.chapters)-1, "the operator never rests though nothing happens", busy.Error())
	}
	return nil
}
