package handlers_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// daemonic is a harness with daemons, in a bubble of testing/synctest.
type daemonic struct {
	t *testing.T
	*reconciletest.Harness

	// writes are the writes since the last call of wrote.
	writes int

	mu     sync.Mutex
	lines  []string
	events []string
}

// Record implements event.Sink.
func (d *daemonic) Record(e event.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, fmt.Sprintf("%s: %s", e.Reason, e.Note))
}

// wrote returns the number of writes since its last call.
func (d *daemonic) wrote() (n int) {
	n, d.writes = d.writes, 0
	return n
}

// warnings returns the events so far.
func (d *daemonic) warnings() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.events
}

func (d *daemonic) write(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// after lets time pass, and returns what daemons have written since the last call.
func (d *daemonic) after(pass time.Duration) []string {
	for range 4 { // what ends brings the object
		d.Advance(pass)
		synctest.Wait()
		pass, d.writes = 0, d.writes+len(d.Calls())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	lines := d.lines
	d.lines = nil
	return lines
}

// run is a daemon that writes when it begins and why it ends, late after that.
func (d *daemonic) run(late time.Duration) handlers.Func[Claim] {
	return func(ctx context.Context, r *handlers.Request[Claim]) error {
		d.write("begins")
		for r.Sleep(ctx, time.Minute) {
			d.write("size %d", r.Latest().Spec.Size)
		}
		time.Sleep(late)
		d.write("ends: %v", context.Cause(ctx))
		return nil
	}
}

func inBubble(t *testing.T, reason string, register func(d *daemonic, c *handlers.Handlers[Claim]), test func(d *daemonic)) {
	t.Helper()
	t.Run(reason, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d, c := &daemonic{t: t}, handlers.New[Claim](claims)
			register(d, c)
			d.Harness = reconciletest.Drive(t, c, reconciletest.Events(d))
			d.Apply(small)
			test(d)
		})
	})
}

func TestDaemons(t *testing.T) {
	inBubble(t, "handlers 104: one that waits is run again without a warning, and has used up no attempt", func(d *daemonic, c *handlers.Handlers[Claim]) {
		errs := []error{request.Precondition("no disk"), request.Precondition("no disk"), errors.New("boom")}
		c.Daemon("measure", func(context.Context, *handlers.Request[Claim]) error {
			d.write("begins")
			err := errs[0]
			errs = errs[1:]
			return err
		}, handlers.MaxAttempts(1), handlers.Backoff(time.Minute))
	}, func(d *daemonic) {
		assert.Equal(d.t, []string{"begins"}, d.after(0))
		assert.Equal(d.t, []string{"begins"}, d.after(time.Minute))
		assert.Empty(d.t, d.warnings())
		assert.Equal(d.t, []string{"begins"}, d.after(time.Minute))
		assert.Empty(d.t, d.after(time.Hour))
		assert.Equal(d.t, []string{"HandlerGivenUp: measure: given up after 1 attempts: boom"}, d.warnings())
	})
	inBubble(t, "handlers 50: it runs while the object is there, and costs no write but that of the finalizer", func(d *daemonic, c *handlers.Handlers[Claim]) {
		c.Daemon("measure", d.run(0))
	}, func(d *daemonic) {
		assert.Equal(d.t, []string{"begins"}, d.after(0))
		assert.Equal(d.t, 1, d.wrote())
		assert.Equal(d.t, []string{"operkit.dev/operkit"}, d.Get("Claim small").GetFinalizers())
		edit(d.Harness, "size", int64(2))
		assert.Equal(d.t, []string{"size 2"}, d.after(time.Minute))
		assert.Zero(d.t, d.wrote())
		d.Restart()
		assert.Equal(d.t, []string{"ends: the operator ends", "begins"}, d.after(0))
		assert.Zero(d.t, d.wrote())
		d.Delete("Claim small")
		assert.Equal(d.t, []string{"ends: the object is being deleted"}, d.after(0))
		d.Gone("Claim small")
		assert.Equal(d.t, 1, d.wrote())
	})
	inBubble(t, "handlers 51: one whose object doesn't match or is paused rests", func(d *daemonic, c *handlers.Handlers[Claim]) {
		c.Daemon("measure", d.run(time.Second), handlers.When(func(c *Claim) bool { return c.Spec.Size < 2 }))
	}, func(d *daemonic) {
		d.after(0)
		edit(d.Harness, "size", int64(2))
		d.after(0)
		assert.NotEmpty(d.t, d.Get("Claim small").GetFinalizers(), "until it has ended")
		assert.Equal(d.t, []string{"ends: the object doesn't match the daemon any more"}, d.after(time.Second))
		assert.Empty(d.t, d.Get("Claim small").GetFinalizers())
		edit(d.Harness, "size", int64(1))
		assert.Equal(d.t, []string{"begins"}, d.after(0))
		pause := func(value string) {
			d.Edit("Claim small", func(obj *unstructured.Unstructured) {
				obj.SetAnnotations(map[string]string{"operkit.dev/pause-execution": value})
			})
		}
		pause("true")
		assert.Equal(d.t, []string{"ends: the object is paused"}, append(d.after(0), d.after(time.Second)...))
		pause("false")
		assert.Equal(d.t, []string{"begins"}, d.after(0))
		d.Leave("Claim small")
		assert.Equal(d.t, []string{"ends: the object is gone"}, append(d.after(0), d.after(time.Second)...))
		d.Enter("Claim small")
		assert.Equal(d.t, []string{"begins"}, d.after(0))
	})
	inBubble(t, "handlers 52: the finalizer waits for one that hangs as long as its grace", func(d *daemonic, c *handlers.Handlers[Claim]) {
		c.Daemon("measure", d.run(time.Hour), handlers.Grace(5*time.Second))
		c.On(handlers.Delete, "clean", func(context.Context, *handlers.Request[Claim]) error { d.write("clean"); return nil })
	}, func(d *daemonic) {
		d.after(0)
		d.Delete("Claim small")
		assert.Equal(d.t, []string{"clean"}, d.after(0), "handlers of the deletion don't wait for it")
		d.after(4 * time.Second)
		d.Exists("Claim small")
		assert.Empty(d.t, d.after(time.Second))
		d.Gone("Claim small")
		assert.Equal(d.t, []string{"DaemonAbandoned: measure hasn't returned 5s after it was stopped: the object is being deleted"}, d.warnings())
		time.Sleep(time.Hour)
	})
	inBubble(t, "handlers 53: a reconciler that is made anew waits for one that hangs", func(d *daemonic, c *handlers.Handlers[Claim]) {
		c.Daemon("measure", d.run(time.Hour), handlers.Grace(5*time.Second))
	}, func(d *daemonic) {
		d.after(0)
		d.Restart()
		assert.Empty(d.t, d.after(time.Minute))
		assert.Equal(d.t, []string{"ends: the operator ends", "begins", "size 1"}, d.after(time.Hour))
		d.Restart()
		time.Sleep(2 * time.Hour)
	})
	inBubble(t, "handlers 54: one that has ended isn't called again, except by another process", func(d *daemonic, c *handlers.Handlers[Claim]) {
		c.Daemon("once", func(_ context.Context, r *handlers.Request[Claim]) error {
			d.write("once")
			r.Update(func(c *Claim) { c.Status.Volume = "v" })
			return r.Result("done")
		}, handlers.Reports("Measured"))
	}, func(d *daemonic) {
		assert.Equal(d.t, []string{"once"}, d.after(0))
		edit(d.Harness, "size", int64(2))
		assert.Empty(d.t, d.after(time.Hour))
		status := d.Get("Claim small").Object["status"].(map[string]any)
		assert.Equal(d.t, []any{"v", "done"}, []any{status["volume"], status["once"]}, "handlers 50: what it has set is written at its end")
		assert.Equal(d.t, metav1.ConditionTrue, d.Condition("Claim small", "Measured").Status)
		assert.Equal(d.t, 3, d.wrote())
		assert.Empty(d.t, d.after(time.Hour))
		assert.Zero(d.t, d.wrote())
		d.Restart()
		assert.Equal(d.t, []string{"once"}, d.after(0))
		assert.Equal(d.t, 1, d.wrote(), "the condition is about the new generation")
	})
}

func TestDaemonFailures(t *testing.T) {
	boom := errors.New("boom")
	inBubble(t, "handlers 55: one that fails is called again, and the condition has the error", func(d *daemonic, c *handlers.Handlers[Claim]) {
		c.Daemon("measure", func(context.Context, *handlers.Request[Claim]) error {
			d.write("called")
			return boom
		}, handlers.MaxAttempts(2), handlers.Backoff(10*time.Second), handlers.Reports("Measured"))
	}, func(d *daemonic) {
		assert.Equal(d.t, []string{"called"}, d.after(0))
		assert.Equal(d.t, "boom", d.Condition("Claim small", "Measured").Message)
		assert.Equal(d.t, 2, d.wrote())
		assert.Empty(d.t, d.after(9*time.Second))
		assert.Zero(d.t, d.wrote())
		assert.Equal(d.t, []string{"called"}, d.after(time.Second))
		assert.Equal(d.t, "given up after 2 attempts: boom", d.Condition("Claim small", "Measured").Message)
		assert.Empty(d.t, d.after(time.Hour))
		assert.Equal(d.t, []string{"HandlerFailed: measure: boom", "HandlerGivenUp: measure: given up after 2 attempts: boom"}, d.warnings())
	})
	inBubble(t, "handlers 55: errors mean what they mean for other handlers", func(d *daemonic, c *handlers.Handlers[Claim]) {
		for id, row := range map[string]struct {
			err    error
			policy handlers.ErrorPolicy
		}{
			"asks": {request.RetryAfter(time.Hour, boom), handlers.Fail}, "permanent": {request.Permanent(boom), handlers.Ignore},
			"fails": {boom, handlers.Fail}, "ignored": {boom, handlers.Ignore},
		} {
			c.Daemon(id, func(context.Context, *handlers.Request[Claim]) error {
				d.write("%s", id)
				return row.err
			}, handlers.Errors(row.policy))
		}
		c.Daemon("late", d.run(0), handlers.InitialDelay(90*time.Minute))
	}, func(d *daemonic) {
		assert.Len(d.t, d.after(0), 4)
		assert.Empty(d.t, d.after(59*time.Minute))
		assert.Equal(d.t, []string{"asks"}, d.after(time.Minute))
		assert.Equal(d.t, []string{"begins"}, d.after(30*time.Minute))
	})
	inBubble(t, "handlers 50: it writes when it asks for that, and sees what it wrote", func(d *daemonic, c *handlers.Handlers[Claim]) {
		c.Daemon("measure", func(ctx context.Context, r *handlers.Request[Claim]) error {
			for n := 1; r.Sleep(ctx, time.Minute); n++ {
				r.Update(func(c *Claim) { c.Status.Volume = fmt.Sprint(n) })
				if err := errors.Join(r.Condition("Measured", metav1.ConditionTrue, "Done", "it was measured"), r.Flush(ctx)); err != nil {
					return err
				}
				d.write("volume %s", r.Latest().Status.Volume)
			}
			r.Update(func(c *Claim) { c.Status.Volume = "none" })
			return nil
		}, handlers.Reports("Measured"))
	}, func(d *daemonic) {
		d.after(0)
		assert.Equal(d.t, 1, d.wrote())
		assert.Equal(d.t, []string{"volume 1"}, d.after(time.Minute))
		assert.Equal(d.t, 1, d.wrote(), "the status with the condition")
		assert.Equal(d.t, []string{"volume 2"}, d.after(time.Minute))
		assert.Equal(d.t, 1, d.wrote())
		d.Edit("Claim small", func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{"operkit.dev/pause-execution": "true"})
		})
		d.after(0)
		assert.Equal(d.t, "none", d.Get("Claim small").Object["status"].(map[string]any)["volume"])
		assert.Equal(d.t, metav1.ConditionTrue, d.Condition("Claim small", "Paused").Status, "and the pause stays reported")
	})
}

func TestDaemonMistakes(t *testing.T) {
	c := handlers.New[Claim](claims)
	f := func(context.Context, *handlers.Request[Claim]) error { return nil }
	c.Daemon("a", f, handlers.Grace(0), handlers.InitialDelay(-time.Second), handlers.Sharp())
	c.On(handlers.Create, "b", f, handlers.Grace(time.Second))
	_, err := c.Reconciler(t.Context(), newEnv(t))
	require.EqualError(t, err, `handlers of Claim: handler "a": grace 0s: the daemon couldn't end its work: use a positive time
handler "a": initial delay -1s: use a positive time
handler "a": sharp: only for handlers of Timer: leave the option out
handler "b": grace: only for handlers of Daemon: leave the option out`, "handlers 33: all at once")
}

func TestDaemonsNeedALeader(t *testing.T) {
	cluster, err := dryrun.New()
	require.NoError(t, err)
	manager, err := deploy.NewManager(cluster)
	require.NoError(t, err)
	reconciler := func(register func(c *handlers.Handlers[Claim])) leader.Reconciler {
		c := handlers.New[Claim](claims)
		register(c)
		made, err := c.Reconciler(t.Context(), watch.Env{Manager: manager, Now: time.Now})
		require.NoError(t, err)
		return made
	}
	f := func(context.Context, *handlers.Request[Claim]) error { return nil }
	_, err = leader.PerObject(reconciler(func(c *handlers.Handlers[Claim]) { c.Daemon("measure", f) }), manager)
	require.EqualError(t, err, "lock per object: handlers of Claim: the daemon measure runs between reconciles: use one lock for all objects, such as a Lease", "handlers 59")
	_, err = leader.PerObject(reconciler(func(c *handlers.Handlers[Claim]) { c.On(handlers.Create, "create", f) }), manager)
	require.NoError(t, err, "handlers 59: others don't")
}
