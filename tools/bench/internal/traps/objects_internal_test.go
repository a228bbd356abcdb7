package traps

import (
	"testing"

	v1 "github.com/operkit/operkit/tools/bench/api/v1"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func bundle(generation int64, conditions ...metav1.Condition) *v1.Bundle {
	b := &v1.Bundle{Status: v1.BundleStatus{Conditions: conditions}}
	b.Generation, b.UID = generation, "new"
	return b
}

func TestSaid(t *testing.T) {
	t.Parallel()
	ready := metav1.Condition{Type: "Ready", Status: "False", Reason: "Initializing"}
	const first, why = "its status says Ready=False (Initializing)", "Updating=True (Error) ConfigMap a-message: belongs to b"
	updating := metav1.Condition{Type: "Updating", Status: "True", Reason: "Error", Message: "ConfigMap a-message: belongs to b"}
	again := metav1.Condition{Type: "Reconciling", Status: "True", Reason: "Error", Message: "ConfigMap a-message: belongs to b"}
	for reason, row := range map[string]struct {
		bundle *v1.Bundle
		name   string
		want   string
		names  bool
	}{
		"nothing":                             {bundle(1), "a-message", "its status says nothing", false},
		"not why":                             {bundle(1, ready), "a-message", first, false},
		"why, once":                           {bundle(1, ready, updating, again), "a-message", first + "; " + why, true},
		"only Ready where no name is asked":   {bundle(1, updating, ready), "", first, true},
		"something else isn't named by it":    {bundle(1, ready, updating), "a-size", first, false},
		"a condition that says it before all": {bundle(1, updating), "a-message", "its status says " + why, true},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.want, said(row.bundle, row.name))
			assert.Equal(t, row.names, names(row.bundle, row.name))
		})
	}
	assert.Equal(t, "its status says nothing", said(nil, ""), "a Bundle that was never seen")
}

func TestIsReady(t *testing.T) {
	t.Parallel()
	ready := metav1.Condition{Type: "Ready", Status: "True", ObservedGeneration: 2}
	not := metav1.Condition{Type: "Ready", Status: "False", ObservedGeneration: 2}
	assert.True(t, isReady(bundle(2, ready)))
	assert.False(t, isReady(bundle(3, ready)), "it was Ready before the last edit")
	assert.False(t, isReady(bundle(2, not)))
	assert.False(t, isReady(bundle(2)))
}

func TestMisplaced(t *testing.T) {
	t.Parallel()
	child := func(owners ...types.UID) *metav1.PartialObjectMetadata {
		c := &metav1.PartialObjectMetadata{}
		for _, uid := range owners {
			c.OwnerReferences = append(c.OwnerReferences, metav1.OwnerReference{UID: uid})
		}
		return c
	}
	going := child("new")
	going.DeletionTimestamp = &metav1.Time{}
	for reason, row := range map[string]struct {
		child *metav1.PartialObjectMetadata
		want  string
	}{
		"its own":               {child("new"), ""},
		"of the one before":     {child("old"), "doesn't belong to it alone"},
		"of both":               {child("old", "new"), "doesn't belong to it alone"},
		"of nobody":             {child(), "doesn't belong to it alone"},
		"its own, but going":    {going, "is being deleted"},
		"gone, or not yet made": {nil, "isn't there"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.want, misplaced(row.child, bundle(1)))
		})
	}
}

func TestCounted(t *testing.T) {
	t.Parallel()
	get := audit.Call{Verb: "update", Resource: "configmaps"}
	patch := audit.Call{Verb: "patch", Group: "apps", Resource: "deployments"}
	assert.Equal(t, "0 writes", counted(nil))
	assert.Equal(t, "1 write (1 update configmaps)", counted(audit.Calls{get}))
	assert.Equal(t, "3 writes (2 patch deployments.apps, 1 update configmaps)", counted(audit.Calls{patch, get, patch}))
}
