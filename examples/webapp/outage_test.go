package main

import (
	"strings"
	"testing"

	v1 "github.com/operkit/operkit/examples/webapp/api/v1"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const silent = "the release channel doesn't answer: EOF"

func TestChannelDown(t *testing.T) {
	w := newWorld(t)
	p := w.start()
	w.create(w.staging, w.production)
	w.settled()
	mark := w.Mark(t)
	w.channel.breakDown()
	w.polled(10)
	assert.Empty(t, w.CallsSince(t, mark, w.operator), "nothing changes")
	assert.Equal(t, 1, strings.Count(p.Output(), silent), "it is told once")

	w.channel.release("1.5.0")
	w.Eventually("it goes on", func() bool { return w.out(w.production) == "1.5.0" })
	w.settled()
	w.channel.breakDown()
	w.polled(10)
	assert.Equal(t, 2, strings.Count(p.Output(), silent), "another outage is told again")
}

func TestRestartWhileTheChannelIsDown(t *testing.T) {
	w := newWorld(t)
	p := w.start()
	w.create(w.staging, w.production)
	w.settled()
	require.Zero(t, p.Stop(t))
	w.channel.breakDown()
	mark := w.Mark(t)
	p = w.start()
	w.Eventually("it is told", func() bool { return strings.Count(p.Output(), silent) > 0 })
	w.polled(10)
	assert.Empty(t, w.CallsSince(t, mark, w.operator).Writes(), "what is out stays")
	w.in(w.production).Delete(deployments, w.app+"-web")
	w.Eventually("what is deleted is put back", func() bool { return w.out(w.production) == firstRelease })
	w.settled()
	assert.Equal(t, []string{"patch deployments in production"}, w.written(w.CallsSince(t, mark, w.operator)))
}

func TestNoVersionIsKnownYet(t *testing.T) {
	w := newWorld(t)
	w.channel.breakDown()
	p := w.start()
	w.create(w.staging)
	w.Eventually("the condition says why nothing happens", func() bool {
		updating := w.condition(status.ConditionUpdating)
		return updating.Reason == string(status.UpdatingPreconditionWait) && strings.Contains(updating.Message, "no version is known yet: "+silent)
	})
	w.polled(10)
	assert.Empty(t, w.written(w.Calls(t, w.operator)))
	assert.Equal(t, map[string]int{"patch webapps.examples.operkit.dev/status": 1}, w.Calls(t, w.operator).Writes().Of("webapps.examples.operkit.dev").Count())
	assert.Equal(t, 1, strings.Count(p.Output(), "poll of WebApp "+w.app+": "+silent), "it is told once")
	w.channel.release(firstRelease)
	w.Eventually("it is rolled out", func() bool { return w.out(w.staging) == firstRelease })
	w.settled()
}

// Another channel is asked at once, and one that can't be asked leaves what is out.
func TestAnotherChannel(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.create(w.staging)
	w.settled()
	beta := newReleases(t, "2.0.0-beta.1")
	beta.breakDown()
	mark := w.Mark(t)
	w.Merge(v1.WebAppKind, w.app, `{"spec":{"channel":"`+beta.URL+`"}}`)
	w.settled()
	assert.Equal(t, firstRelease, w.out(w.staging))
	assert.Empty(t, w.written(w.CallsSince(t, mark, w.operator)))
	beta.release("2.0.0-beta.1")
	w.Eventually("the other channel counts", func() bool { return w.out(w.staging) == "2.0.0-beta.1" })
	w.settled()
	assert.Equal(t, metav1.ConditionTrue, w.condition(status.ConditionReady).Status)
	assert.Equal(t, v1.WebAppKind.Kind, w.child(deployments, w.staging).GetOwnerReferences()[0].Kind)
}
