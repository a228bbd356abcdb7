package handlers_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// reported returns an Event about the claim small, in the words of by, which the reporter has told at a time.
func reported(name, by, reason string, at time.Time) string {
	return fmt.Sprintf(`
apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: %s}
eventTime: %q
reportingController: %s
reportingInstance: test
action: Test
type: Warning
reason: %s
note: it says so
regarding: {apiVersion: example.dev/v1, kind: Claim, namespace: test, name: small}
`, name, at.UTC().Format("2006-01-02T15:04:05.000000Z"), by, reason)
}

func TestClusterEvents(t *testing.T) {
	t.Run("handlers 85: those that others report from now on, once each", func(t *testing.T) {
		var j journal
		c := handlers.New[Claim](claims)
		c.OnClusterEvent("told", func(_ context.Context, r *handlers.Request[Claim]) error {
			e := r.Reported
			j.write("%s %s: %s by %s, %d times", e.Type, e.Reason, e.Note, e.By, e.Count)
			r.Update(func(c *Claim) { c.Status.Volume = e.Reason })
			return errors.New("it isn't repeated")
		})
		h := drive(t, c)
		start := h.Now()
		h.Apply(small)
		h.RunUntilSettled()
		h.Apply(reported("one", "kubelet", "Broken", start.Add(time.Second)))
		h.RunUntilSettled()
		assert.Equal(t, []string{"Warning Broken: it says so by kubelet, 1 times"}, j.taken())
		assert.Equal(t, "Broken", h.Get("Claim small").Object["status"].(map[string]any)["volume"])
		h.Writes(1)
		h.Apply(reported("two", "kubelet", "Old", start.Add(-time.Second)), reported("three", "operkit", "Own", start.Add(time.Second)),
			strings.Replace(reported("four", "kubelet", "Other", start.Add(time.Second)), "kind: Claim", "kind: Pod", 1))
		h.RunUntilSettled()
		assert.Empty(t, j.taken())
		h.Apply(reported("one", "kubelet", "Broken", start.Add(time.Second)) +
			"series: {count: 3, lastObservedTime: '" + start.Add(time.Minute).UTC().Format("2006-01-02T15:04:05.000000Z") + "'}\n")
		h.RunUntilSettled()
		assert.Equal(t, []string{"Warning Broken: it says so by kubelet, 3 times"}, j.taken())
	})
}

// heard returns handlers that write the reasons of Events into a journal.
func heard(j *journal) *handlers.Handlers[Claim] {
	c := handlers.New[Claim](claims)
	c.OnClusterEvent("told", func(_ context.Context, r *handlers.Request[Claim]) error {
		j.write("%s", r.Reported.Reason)
		return nil
	})
	return c
}

// about returns an Event about an object with a uid.
func about(uid, event string) string {
	return strings.Replace(event, "name: small}", "name: small, uid: "+uid+"}", 1)
}

func TestClusterEventsDropped(t *testing.T) {
	pause := func(h *reconciletest.Harness, value string) {
		h.Edit("Claim small", func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{"operkit.dev/pause-execution": value})
		})
		h.RunUntilSettled()
	}
	for _, row := range []struct {
		reason string
		do     func(h *reconciletest.Harness)
		want   []string
	}{
		{"of an object that is gone", func(h *reconciletest.Harness) {
			h.Delete("Claim small")
			h.RunUntilSettled()
			h.Apply(reported("one", "kubelet", "Killing", h.Now().Add(2*time.Hour))) // a clock that is ahead
			h.RunUntilSettled()
			h.Advance(time.Hour)
			h.Apply(small)
		}, nil},
		{"of an object that goes before the pass", func(h *reconciletest.Harness) {
			h.Apply(reported("one", "kubelet", "Killing", h.Now().Add(2*time.Hour)))
			h.Delete("Claim small")
			h.Apply(small)
		}, nil},
		{"of an object that leaves before the pass", func(h *reconciletest.Harness) {
			h.Apply(reported("one", "kubelet", "Killing", h.Now().Add(time.Second)))
			h.Leave("Claim small")
			h.Enter("Claim small")
		}, nil},
		{"of a paused object", func(h *reconciletest.Harness) {
			pause(h, "true")
			h.Apply(reported("one", "kubelet", "Killing", h.Now().Add(time.Second)))
			h.RunUntilSettled()
			pause(h, "false")
		}, nil},
		{"of another uid", func(h *reconciletest.Harness) {
			h.Apply(about("other", reported("one", "kubelet", "Killing", h.Now().Add(time.Second))))
		}, nil},
		{"before the object was created, without a uid", func(h *reconciletest.Harness) {
			h.Delete("Claim small")
			h.Advance(time.Hour)
			h.Apply(small, reported("one", "kubelet", "Killing", h.Now().Add(-time.Minute)))
		}, nil},
		{"none of its own uid", func(h *reconciletest.Harness) {
			uid := string(h.Get("Claim small").GetUID())
			h.Apply(about(uid, reported("one", "kubelet", "Pulled", h.Now().Add(time.Second))))
		}, []string{"Pulled"}},
		{"none with the name as the uid, as the kubelet reports about Nodes", func(h *reconciletest.Harness) {
			h.Apply(about("small", reported("one", "kubelet", "Ready", h.Now().Add(time.Second))))
		}, []string{"Ready"}},
	} {
		t.Run("handlers 87: "+row.reason, func(t *testing.T) {
			var j journal
			h := drive(t, heard(&j))
			h.Apply(small)
			h.RunUntilSettled()
			row.do(h)
			h.RunUntilSettled()
			assert.Equal(t, row.want, j.taken())
		})
	}
	t.Run("handlers 87: the newest hundred are kept", func(t *testing.T) {
		var j journal
		h := drive(t, heard(&j))
		h.Apply(small)
		h.RunUntilSettled()
		for i := range 102 {
			h.Apply(reported(fmt.Sprint("e", i), "kubelet", fmt.Sprint("R", i), h.Now().Add(time.Second)))
		}
		h.RunUntilSettled()
		got := j.taken()
		assert.Len(t, got, 100)
		assert.Equal(t, "R2", got[0])
	})
}

func TestEventsOverTime(t *testing.T) {
	t.Run("handlers 88: events wait for the next pass when the time is over", testEventsOverTime)
}

func testEventsOverTime(t *testing.T) {
	var j journal
	h := func(*life) *handlers.Handlers[Claim] {
		c := heard(&j)
		c.Seen("seen", func(_ context.Context, r *handlers.Request[Claim]) error {
			j.write("%s %d", r.Event, r.Object.Spec.Size)
			return nil
		})
		c.On(handlers.Create, "slow", func(ctx context.Context, _ *handlers.Request[Claim]) error {
			<-ctx.Done()
			return nil
		})
		return c
	}
	l := newLife(t, h, io.Discard)
	l.start()
	l.create()
	claim, err := l.cluster.Port().Get(t.Context(), l.ref())
	require.NoError(t, err)
	event := object(t, reported("one", "kubelet", "Late", l.now.Add(time.Second)))
	require.NoError(t, unstructured.SetNestedField(event.Object, l.namespace, "regarding", "namespace"))
	keys := l.process.(source.Provider).Sources().Mapped[0].Keys(deploy.Event{Type: deploy.Added, New: event})
	require.Equal(t, []deploy.Ref{l.ref()}, keys)

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	result, err := l.process.Reconcile(ctx, request.Request{Key: l.ref()})
	require.NoError(t, err)
	assert.Equal(t, time.Millisecond, result.RequeueAfter)
	assert.Empty(t, j.taken())

	l.process.(watch.Observer).Observe(deploy.Event{Type: deploy.Added, New: claim})
	_, _ = l.process.Reconcile(ctx, request.Request{Key: l.ref()})
	assert.Empty(t, j.taken())
	l.reconcile()
	assert.Equal(t, []string{"ADDED 1", "Late"}, j.taken())
}

// A handler learns what others report about the object.
func ExampleHandlers_OnClusterEvent() {
	c := handlers.New[Claim](claims)
	c.OnClusterEvent("told", func(_ context.Context, r *handlers.Request[Claim]) error {
		fmt.Println(r.Object.Name, r.Reported.Type, r.Reported.Reason)
		return nil
	})
	h := reconciletest.Drive(console{}, c)
	h.Apply(small)
	h.RunUntilSettled()
	h.Apply(reported("one", "kubelet", "Broken", h.Now().Add(time.Second)))
	h.RunUntilSettled()
	// Output: small Warning Broken
}
