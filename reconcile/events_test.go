package reconcile

import (
	"context"
	"errors"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// told keeps events.
type told struct{ events []event.Event }

func (o *told) Record(e event.Event) { o.events = append(o.events, e) }

// texts are the events since the last call.
func (o *told) texts() (texts []string) {
	for _, e := range o.events {
		texts = append(texts, string(e.Type)+" "+e.Reason+": "+e.Note)
	}
	o.events = nil
	return texts
}

func TestEvents(t *testing.T) {
	t.Parallel()
	t.Run("one for each real change", func(t *testing.T) {
		t.Parallel()
		w, o := newWorld(t), &told{}
		var fails error
		var renders []any
		disabled := false
		c := &finalizing{}
		c.setup = func(_ context.Context, s *Session) error {
			s.Add("web", deployment("web"), configMap("web"))
			s.Add("room", renders...).After(s.Component("web"), Ready)
			if old := s.Add("old", configMap("old")); disabled {
				old.Disable()
			}
			return fails
		}
		renders = []any{configMap("c")}
		r := w.reconciler(c, Events(o))
		w.calm(r)
		assert.Equal(t, []string{"Normal Created: component web: created Deployment web, ConfigMap web", "Normal Created: component old: created ConfigMap old"}, o.texts())
		w.makeReady("web")
		w.calm(r)
		assert.Equal(t, []string{"Normal Created: component room: created ConfigMap c", "Normal Ready: all components are ready: 3"}, o.texts())
		w.calm(r)
		assert.Empty(t, o.texts(), "nothing changed")
		again := w.reconciler(c, Events(o))
		w.calm(again)
		assert.Empty(t, o.texts(), "nor has a restart anything to tell")

		w.merge(configMapRef("c"), `{"data":null,"metadata":{"labels":null}}`)
		changed := configMap("c")
		changed.Object["data"] = map[string]any{"a": "new"}
		renders = []any{changed}
		w.calm(r)
		assert.Equal(t, []string{"Normal Changed: component room: changed ConfigMap c"}, o.texts(), "it was ready all the time")
		disabled, renders = true, nil
		w.calm(r)
		w.calm(r)
		assert.Equal(t, []string{"Normal Deleted: deleted ConfigMap old, ConfigMap c"}, o.texts(), "by being disabled, and by being pruned")

		fails = errors.New("no tea")
		for range 3 {
			_, _, err := w.once(r)
			require.Error(t, err)
		}
		assert.Equal(t, []string{"Warning Errored: setup: no tea"}, o.texts(), "once")
		fails = request.Configuration("no milk")
		_, _, err := w.once(r)
		require.Error(t, err)
		assert.Equal(t, []string{"Warning Errored: setup: no milk"}, o.texts(), "another one is told")
		fails = request.Precondition("not yet")
		w.calm(r)
		assert.Empty(t, o.texts(), "to wait is no failure")
		fails = nil
		w.calm(r)
		assert.Equal(t, []string{"Normal Ready: all components are ready: 2"}, o.texts(), "after a failure it is ready again")
		w.refuse = refusing(&deploy.UnavailableError{Err: errors.New("down")}, "apply Deployment shop/web")
		w.delete(deploymentRef("web"))
		_, _, err = w.once(r)
		require.Error(t, err)
		assert.Empty(t, o.texts(), "to a cluster that doesn't answer nothing can be told")
		down := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Message: "failed calling webhook"}}
		w.refuse = refusing(&deploy.UnavailableError{Err: down}, "apply Deployment shop/web")
		for attempt, want := range []int{0, 0, 0, 1, 0} {
			request := widgetRequest
			request.Attempt = attempt
			_, err = r.Reconcile(t.Context(), request)
			require.Error(t, err)
			assert.Len(t, o.texts(), want, "one that answers, and can't, is told of when it does so again and again, once")
		}
		w.refuse = nil
		w.calm(r)
		o.texts()
		w.delete(widgetRef)
		w.calm(r)
		assert.Equal(t, []string{"Normal Finalized: nothing is left to be finalized"}, o.texts())
	})
	t.Run("what the cluster stores otherwise than applied", func(t *testing.T) {
		t.Parallel()
		w, o := newWorld(t), &told{}
		memory, err := dryrun.New(dryrun.Schemaless(), dryrun.Objects(widget()), dryrun.Clock(w.clock.Now),
			dryrun.Admit(func(request dryrun.AdmissionRequest, _, next *unstructured.Unstructured) error {
				if request.Ref.Kind == configMaps {
					return unstructured.SetNestedField(next.Object, "theirs", "data", "key")
				}
				return nil
			}))
		require.NoError(t, err)
		w.memory = memory
		r := w.reconciler(adding(func(s *Session) {
			c := configMap("c")
			c.Object["data"] = map[string]any{"key": "ours"}
			s.Add("c", c)
		}), Events(o))
		w.calm(r)
		assert.Equal(t, []string{"Normal Created: component c: created ConfigMap c",
			`Normal Rewritten: component c: the cluster stored ConfigMap shop/c otherwise than applied: .data.key: "ours" -> "theirs"`,
			"Normal Ready: all components are ready: 1"}, o.texts())
		assert.Contains(t, w.logs.String(), "the cluster stored other values than were applied")
		assert.Empty(t, w.calm(r), "it isn't written again")
		assert.Empty(t, o.texts(), "nor told again")
	})
	t.Run("what a controller says", func(t *testing.T) {
		t.Parallel()
		w, o := newWorld(t), &told{}
		c := adding(func(s *Session) { s.Event(event.Warning, "TeaIsOut", "only %d leaves", 3) })
		w.calm(w.reconciler(c, Events(o)))
		require.NotEmpty(t, o.events)
		said := o.events[0]
		assert.Equal(t, event.Object{Ref: widgetRef, UID: widgetUID, ResourceVersion: said.Regarding.ResourceVersion}, said.Regarding)
		assert.Equal(t, "Warning TeaIsOut: only 3 leaves", o.texts()[0])
		w.calm(w.reconciler(c)) // without somewhere to record it nothing happens
	})
	t.Run("a dry run records nothing", func(t *testing.T) {
		t.Parallel()
		w, o := newWorld(t), &told{}
		w.calm(w.reconciler(adding(func(s *Session) {
			s.Add("room", configMap("c"))
			s.Event(event.Normal, "Opened", "yes")
		}), Events(o), DryRun()))
		assert.Empty(t, o.texts())
	})
	t.Run("without a status to know it by a restart tells anew that a resource is ready", func(t *testing.T) {
		t.Parallel()
		w, o := newWorld(t), &told{}
		r := w.reconciler(adding(func(s *Session) { s.Add("room", configMap("c")) }), Events(o), Status(NoStatus))
		w.calm(r)
		w.calm(r)
		assert.Equal(t, []string{"Normal Created: component room: created ConfigMap c", "Normal Ready: all components are ready: 1"}, o.texts(), "and once only")
	})
}
