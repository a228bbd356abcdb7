package handlers_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
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
