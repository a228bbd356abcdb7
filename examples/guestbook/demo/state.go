package main

import (
	"cmp"
	"fmt"
	"slices"

	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"github.com/operkit/operkit/status"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// componentState is the state of one component in the status of the guestbook.
type componentState struct {
	colour colour
	text   string
}

// state returns the state of a component, in the words of reconcile.State, or the zero value if the status doesn't have
// it.
func (b *board) state(component string) componentState {
	if b.book == nil || b.book.Status.ComponentStatus == nil {
		return componentState{}
	}
	s := b.book.Status.ComponentStatus
	message := ""
	for _, m := range s.ComponentMessages {
		if m.Name == component {
			message = ": " + m.Message
		}
	}
	for _, waiting := range s.UnstartedComponents {
		if waiting.Name == component {
			return componentState{yellow, "unstarted: " + cmp.Or(waiting.Reason, "it waits")}
		}
	}
	switch {
	case slices.Contains(s.FailedComponents, component):
		return componentState{red, "failed" + message}
	case slices.Contains(s.VerifiedComponents, component):
		return componentState{green, "verified"}
	case slices.Contains(s.UnverifiedComponents, component):
		return componentState{yellow, "unverified" + message}
	case slices.Contains(s.DisabledComponents, component):
		return componentState{faint, "disabled"}
	}
	return componentState{}
}

// verdict returns the state in the conditions of the guestbook.
func verdict(book *v1.Guestbook) componentState {
	ready := meta.FindStatusCondition(book.Status.Conditions, status.ConditionReady)
	switch {
	case book.DeletionTimestamp != nil:
		return componentState{yellow, "being deleted"}
	case ready == nil:
		return componentState{}
	case ready.Status != metav1.ConditionTrue:
		return componentState{yellow, "Ready=" + string(ready.Status) + ", " + ready.Reason}
	case book.Status.ReconciledGeneration != book.Generation:
		return componentState{yellow, "Ready=True, being changed"}
	}
	return componentState{green, fmt.Sprintf("Ready=True at generation %d", book.Generation)}
}

// pods counts the Pods of a Deployment or StatefulSet; ok is false for another kind.
func pods(obj *unstructured.Unstructured) (text string, ok bool) {
	kind := obj.GroupVersionKind()
	if kind != deploymentKind && kind != statefulSetKind {
		return "", false
	}
	ready, wanted := replicas(obj)
	text = fmt.Sprintf("%d of %d Pods ready", ready, wanted)
	if ready > wanted {
		text = fmt.Sprintf("%d Pods ready, %d wanted", ready, wanted)
	}
	all, _, _ := unstructured.NestedInt64(obj.Object, "status", "replicas")
	if updated, _, _ := unstructured.NestedInt64(obj.Object, "status", "updatedReplicas"); updated < all {
		text += fmt.Sprintf(", %d updated", updated)
	}
	return text, true
}

func replicas(obj *unstructured.Unstructured) (ready, wanted int64) {
	ready, _, _ = unstructured.NestedInt64(obj.Object, "status", "readyReplicas")
	wanted, _, _ = unstructured.NestedInt64(obj.Object, "spec", "replicas")
	return ready, wanted
}
