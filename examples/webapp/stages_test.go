package main

import (
	"strings"
	"testing"

	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestStageTakenOut(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.create(w.staging, w.production)
	w.settled()
	theirs := object(configMaps, "theirs")
	theirs.Object["data"] = map[string]any{"of": "somebody"}
	w.in(w.staging).Apply(theirs)
	before := map[string]*unstructured.Unstructured{}
	for _, kind := range children {
		before[kind.Kind] = w.child(kind, w.production)
	}
	mark := w.Mark(t)
	w.create(w.production)
	w.Eventually("its Deployment is gone", func() bool { return w.child(deployments, w.staging) == nil })
	w.settled()
	assert.ElementsMatch(t, []string{"delete configmaps in staging", "delete services in staging", "delete deployments in staging"},
		w.written(w.CallsSince(t, mark, w.operator)))
	for _, kind := range children {
		assert.Nil(t, w.child(kind, w.staging), kind.Kind)
		assert.Equal(t, before[kind.Kind], w.child(kind, w.production), "the other stage stays as it is")
	}
	assert.NotNil(t, w.in(w.staging).Get(configMaps, "theirs"), "and so does what is somebody else's")
}

func TestNamespaceThatIsNotThere(t *testing.T) {
	w := newWorld(t)
	w.start()
	missing := w.Namespace + "-canary"
	w.create(w.staging, missing, w.production)
	w.Eventually("the condition names it", func() bool {
		updating := w.condition(status.ConditionUpdating)
		return updating.Reason == string(status.UpdatingPreconditionWait) &&
			strings.Contains(updating.Message, "there is no namespace "+missing+": create it, or take it out of spec.stages")
	})
	w.AwaitQuiet(t, w.operator)
	assert.Equal(t, firstRelease, w.out(w.staging), "the stage before is there")
	assert.Empty(t, w.out(w.production), "the one behind waits")
	assert.Equal(t, missing, w.namespace("canary"))
	w.Eventually("with the namespace it goes on by itself", func() bool { return w.out(w.production) == firstRelease })
	w.settled()
}

// What is in a namespace goes with it. The WebApp says so until the stage is taken out.
func TestNamespaceDeleted(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.create(w.staging, w.production)
	w.settled()
	w.Delete(namespaces, w.production)
	w.Eventually("the condition names it", func() bool {
		message := w.condition(status.ConditionUpdating).Message
		return strings.Contains(message, "namespace "+w.production+" is being deleted") || strings.Contains(message, "there is no namespace "+w.production)
	})
	assert.Equal(t, firstRelease, w.out(w.staging), "the other stage stays")
	w.create(w.staging)
	w.settled()
}
