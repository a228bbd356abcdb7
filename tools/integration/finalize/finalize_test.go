package finalize

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operkit/operkit/deploy"
)

const background, foreground, orphan = metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan

func TestMovedFromOper8(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		test   func(w *world)
	}{
		{"a Job and what waits for it are rolled out, then the resource goes", func(w *world) {
			d := w.departs("job note")
			w.delete(d, background)
			note := w.ref(configMaps, "d-note")
			w.there(note)
			complete, _, _ := unstructured.NestedInt64(w.get(w.ref(jobs, "d-backup")).Object, "status", "succeeded")
			assert.Equal(w.t, int64(1), complete, "the note waited for the Job")
			w.says(d, "Updating", "nobody has signed it")
			assert.NotNil(w.t, w.get(w.ref(configMaps, "d-home")), "what Setup made stays until then")
			w.merge(note, `{"data":{"signature":"me"}}`)
			w.gone(d, note, w.ref(jobs, "d-backup"), w.ref(configMaps, "d-home"))
			w.told(w.env.Namespace, "Created", "component backup: created Job d-backup")
			w.told(w.env.Namespace, "Finalized", "")
			assert.NotZero(w.t, w.verified.Load(), "the hook was called")
		}},
		{"a failing component holds it, and says so", func(w *world) {
			d := w.departs("note")
			w.delete(d, background)
			note := w.ref(configMaps, "d-note")
			w.there(note)
			w.merge(note, `{"data":{"signature":"torn"}}`)
			w.says(d, "Updating", "finalize: component note: ConfigMap d-note: it is torn")
			w.told(w.env.Namespace, "Errored", "remove the finalizer "+finalizer+" to delete the resource")
			assert.Contains(w.t, w.get(d).GetFinalizers(), finalizer)
			w.merge(note, `{"data":{"signature":"me"}}`)
			w.gone(d, note)
		}},
		{"the way out: the finalizer is taken off, others' stay", func(w *world) {
			d := w.departs("note")
			w.merge(d, `{"metadata":{"finalizers":["example.com/others","`+finalizer+`"]}}`)
			w.delete(d, background)
			w.there(w.ref(configMaps, "d-note"))
			w.patch(d, types.JSONPatchType, fmt.Sprintf(`[{"op":"test","path":"/metadata/finalizers/1","value":%q},{"op":"remove","path":"/metadata/finalizers/1"}]`, finalizer))
			assert.Equal(w.t, []string{"example.com/others"}, w.get(d).GetFinalizers())
			w.merge(d, `{"metadata":{"finalizers":null}}`)
			w.gone(d, w.ref(configMaps, "d-note"))
		}},
		{"in the foreground it waits for the garbage collector", func(w *world) {
			d, home := w.departs("job note"), w.ref(configMaps, "d-home")
			w.merge(home, `{"metadata":{"finalizers":["example.com/held"]}}`)
			w.delete(d, foreground)
			w.says(d, "Updating", "waiting until the garbage collector has removed its finalizer foregroundDeletion")
			assert.Nil(w.t, w.get(w.ref(jobs, "d-backup")))
			w.merge(home, `{"metadata":{"finalizers":null}}`)
			w.there(w.ref(configMaps, "d-note"))
			assert.NotNil(w.t, w.get(w.ref(jobs, "d-backup")), "the collector has left it alone")
			w.merge(w.ref(configMaps, "d-note"), `{"data":{"signature":"me"}}`)
			w.gone(d, w.ref(configMaps, "d-note"))
			assert.NotZero(w.t, w.verified.Load(), "the hook was called")
		}},
		{"and so it does with orphans", func(w *world) {
			d, home := w.departs("note"), w.ref(configMaps, "d-home")
			w.delete(d, orphan)
			w.there(w.ref(configMaps, "d-note"))
			assert.Len(w.t, w.get(w.ref(configMaps, "d-note")).GetOwnerReferences(), 1)
			w.merge(w.ref(configMaps, "d-note"), `{"data":{"signature":"me"}}`)
			w.gone(d, w.ref(configMaps, "d-note"))
			assert.Empty(w.t, w.get(home).GetOwnerReferences(), "what somebody wants orphaned stays")
		}},
		{"what is rolled out already and then collected in the foreground is made anew", func(w *world) {
			d, note := w.departs("note"), w.ref(configMaps, "d-note")
			w.delete(d, background)
			w.there(note)
			before := w.get(note).GetUID()
			w.delete(d, foreground)
			w.eventually("there is another note", func() bool { n := w.get(note); return n != nil && n.GetUID() != before })
			w.merge(note, `{"data":{"signature":"me"}}`)
			w.gone(d, note)
		}},
		{"in a namespace that is being deleted it ends, and an event says what is left undone", func(w *world) {
			d := w.departs("job note")
			w.delete(deploy.Ref{Kind: namespaces, Name: w.env.Namespace}, background)
			w.gone(d, deploy.Ref{Kind: namespaces, Name: w.env.Namespace})
			w.told("default", "Unfinished", "backup: ")
			w.told("default", "Unfinished", "note waits for backup")
			assert.Zero(w.t, w.verified.Load())
		}},
		{"nor does what needs something of that namespace wait for ever", func(w *world) {
			d := w.departs("key")
			w.delete(deploy.Ref{Kind: namespaces, Name: w.env.Namespace}, background)
			w.gone(d, deploy.Ref{Kind: namespaces, Name: w.env.Namespace})
			w.told("default", "Unfinished", "key: build: there is no key")
		}},
		{"also when the namespace goes in the middle", func(w *world) {
			d := w.departs("note")
			w.delete(d, background)
			w.there(w.ref(configMaps, "d-note"))
			w.says(d, "Updating", "nobody has signed it")
			w.delete(deploy.Ref{Kind: namespaces, Name: w.env.Namespace}, background)
			w.gone(d, deploy.Ref{Kind: namespaces, Name: w.env.Namespace})
			w.told("default", "Unfinished", "note: ")
		}},
		{"an operator that is started anew goes on", func(w *world) {
			d, note := w.departs("job note"), w.ref(configMaps, "d-note")
			w.delete(d, background)
			w.there(note)
			made, finished := w.get(note).GetUID(), w.get(w.ref(jobs, "d-backup")).GetUID()
			w.says(d, "Updating", "nobody has signed it")
			w.stop()
			w.merge(note, `{"data":{"signature":"torn"}}`)
			w.start()
			w.says(d, "Updating", "it is torn")
			require.Equal(w.t, made, w.get(note).GetUID())
			require.Equal(w.t, finished, w.get(w.ref(jobs, "d-backup")).GetUID())
			w.merge(note, `{"data":{"signature":"me"}}`)
			w.gone(d, note)
		}},
	} {
		t.Run("B1: "+row.reason, func(t *testing.T) {
			t.Parallel()
			row.test(newWorld(t))
		})
	}
}
