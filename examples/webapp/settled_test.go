package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSettledCostsNothingThoughPollsGoOn(t *testing.T) {
	w := newWorld(t)
	p := w.start()
	w.create(w.staging, w.production)
	w.settled()
	mark := w.Mark(t)
	w.polled(20)
	assert.Empty(t, w.CallsSince(t, mark, w.operator), "reads, writes and watches of the operator")

	require.Zero(t, p.Stop(t))
	mark = w.Mark(t)
	w.start()
	// The last kind to be watched is that of production's last object: then everything has been looked at.
	w.Eventually("it has looked at everything", func() bool {
		return len(w.CallsSince(t, mark, w.operator).Watches().Of("deployments.apps")) > 0
	})
	w.polled(20)
	calls := w.CallsSince(t, mark, w.operator)
	assert.Empty(t, calls.Writes(), "a restart writes nothing")
	assert.Empty(t, calls.Reads().Of("configmaps", "services", "deployments.apps", "namespaces", "webapps.examples.operkit.dev"), "and reads by watches alone")
}
