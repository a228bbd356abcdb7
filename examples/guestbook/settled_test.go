package main

import (
	"fmt"
	"strings"
	"testing"

	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Somebody touches the guestbook and its children in ways that change nothing of what is wanted. Each time the
// operator looks at all of it, and asks the API server nothing.
func TestAHundredReconcilesOfASettledGuestbookCostNoCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start(counting + "=1")
	w.create()
	w.settled()
	count := func() int { return strings.Count(p.Output(), reconciled) }
	before, mark := count(), w.Mark(t)
	// Labels: an annotation is another generation of a Deployment, which isn't ready until its controller has seen
	// that.
	touched := []schema.GroupVersionKind{v1.GuestbookKind, configMaps, deployments, services}
	names := []string{"hello", "hello-web", "hello-web", "hello-redis"}
	for n := range 100 {
		seen := count()
		w.Merge(touched[n%4], names[n%4], fmt.Sprintf(`{"metadata":{"labels":{"visits":"%d"}}}`, n))
		w.Eventually("it is reconciled for that", func() bool { return count() > seen })
	}
	w.AwaitQuiet(t, w.operator)
	assert.GreaterOrEqual(t, count()-before, 100, "reconciles")
	assert.Empty(t, w.CallsSince(t, mark, w.operator), "reads, writes and watches of the operator")
}
