package main

import (
	"fmt"
	"strings"

	v1 "github.com/operkit/operkit/examples/from-kopf/api/v1"
	"github.com/operkit/operkit/examples/internal/interposer"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// interpose lets operators that are started from now on reach the API server through an Interposer.
func (w *world) interpose() *interposer.Interposer {
	w.t.Helper()
	between := interposer.New(w.t, w.operator.Config, w.Namespace)
	w.config = between.Kubeconfig
	return between
}

// live plays a chapter to its end.
func (w *world) live(c chapter) {
	w.t.Helper()
	c.begin(w)
	w.Eventually(c.name+" ends", func() bool { return c.over(w) })
	w.AwaitQuiet(w.t, w.operator)
}

// claimText returns a text of the claim, empty if there is none.
func (w *world) claimText(path ...string) string {
	w.t.Helper()
	claim := w.Get(v1.EphemeralVolumeClaimKind, "hello")
	if claim == nil {
		return ""
	}
	text, _, err := unstructured.NestedString(claim.Object, path...)
	require.NoError(w.t, err)
	return text
}

// record is the annotation in which the operator records what it has handled.
const record = "operkit.dev/operkit-handled.claims"

// isRecorded reports whether all handlers have ended.
func (w *world) isRecorded() bool {
	text := w.claimText("metadata", "annotations", record)
	return text != "" && !strings.Contains(text, `"cycle"`)
}

// state returns the claim and what the operator has made of its PVC, without what is different in each life.
func (w *world) state() string {
	w.t.Helper()
	claim, pvc := w.Get(v1.EphemeralVolumeClaimKind, "hello"), w.Get(pvcKind, "hello")
	if claim == nil || pvc == nil {
		return ""
	}
	if note := w.claimText("spec", "note"); note != "" {
		require.NoError(w.t, unstructured.SetNestedField(claim.Object, fmt.Sprint(len(note), " bytes"), "spec", "note"))
	}
	spec, _, _ := unstructured.NestedMap(pvc.Object, "spec", "resources")
	made := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	made.SetLabels(pvc.GetLabels())
	made.SetOwnerReferences(pvc.GetOwnerReferences())
	made.SetFinalizers(pvc.GetFinalizers())
	return strings.NewReplacer(w.Namespace, "(the namespace)", string(claim.GetUID()), "(its uid)").Replace(timeless(claim) + timeless(made))
}
