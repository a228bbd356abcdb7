package main

import (
	"testing"

	v1 "github.com/operkit/operkit/examples/webapp/api/v1"
	"github.com/stretchr/testify/assert"
)

func TestDeletion(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.create(w.staging, w.production)
	w.settled()
	mark := w.Mark(t)
	w.Delete(v1.WebAppKind, w.app)
	assert.Nil(t, w.Get(v1.WebAppKind, w.app), "nothing holds it")
	w.Eventually("its children are gone in all namespaces", func() bool {
		for _, kind := range children {
			if w.child(kind, w.staging) != nil || w.child(kind, w.production) != nil {
				return false
			}
		}
		return true
	})
	w.AwaitQuiet(t, w.operator)
	assert.Empty(t, w.CallsSince(t, mark, w.operator).Writes(), "the cluster collects them")
}

// What was known of the one that had the name before doesn't count, and its children go first.
func TestMadeAnew(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.create(w.staging)
	w.settled()
	w.Delete(v1.WebAppKind, w.app)
	w.channel.release("1.5.0")
	w.create(w.staging)
	w.Eventually("it is out", func() bool { return w.out(w.staging) == "1.5.0" })
	w.settled()
	assert.Equal(t, w.Get(v1.WebAppKind, w.app).GetUID(), w.child(deployments, w.staging).GetOwnerReferences()[0].UID)
}
