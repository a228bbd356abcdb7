package main

import (
	"fmt"
	"testing"
	"time"

	v1 "github.com/operkit/operkit/examples/memcached/api/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Somebody touches the resource and its Deployment in ways that change nothing of what is wanted.
func TestSettledMemcachedCostsNoCall(t *testing.T) {
	t.Parallel()
	w, _ := settledWorld(t)
	mark := w.Mark(t)
	for n := range 10 {
		// Labels: an annotation is another generation of a Deployment, which isn't ready until its controller has seen
		// that.
		w.Merge(v1.MemcachedKind, "hello", fmt.Sprintf(`{"metadata":{"labels":{"visits":"%d"}}}`, n))
		w.Merge(deployments, "hello", fmt.Sprintf(`{"metadata":{"labels":{"visits":"%d"}}}`, n))
		time.Sleep(50 * time.Millisecond)
	}
	w.settled()
	assert.Empty(t, w.CallsSince(t, mark, w.operator), "reads, writes and watches of the operator")
}

func TestRestartOfASettledMemcachedWritesNothing(t *testing.T) {
	t.Parallel()
	w, first := settledWorld(t)
	require.Zero(t, first.Stop(t), "SIGTERM ends it in good order:\n%s", first.Output())
	mark := w.Mark(t)
	second := w.start()
	w.Eventually("it has looked at everything", func() bool {
		return len(w.CallsSince(t, mark, w.operator).Watches().Of("deployments.apps")) > 0
	})
	w.settled()
	assert.Empty(t, w.CallsSince(t, mark, w.operator).Writes())
	require.Zero(t, second.Stop(t), "it ran until now")
}
