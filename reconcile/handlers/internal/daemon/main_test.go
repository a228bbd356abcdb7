package daemon

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	key   = deploy.Ref{Kind: schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Claim"}, Namespace: "shop", Name: "a"}
	errNo = errors.New("no")
)

// claim is an object in one of its states.
type claim struct{ version int }

// world is a Keeper that runs as the source of a kind. It is safe for concurrent use.
type world struct {
	t *testing.T
	*Keeper[claim]
	// end ends the context of Run, and lost its leadership. ended is closed when Run has returned.
	end   context.CancelCauseFunc
	lost  chan struct{}
	ended chan struct{}

	mu      sync.Mutex
	reports []Report[claim]
	brought int
}

// inBubble runs a test in which the time stands still while anything can be done. It ends when all goroutines have.
func inBubble(t *testing.T, reason string, test func(w *world)) {
	t.Helper()
	t.Run(reason, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.run(30 * time.Second)
			test(w)
			w.stops(context.Canceled)
			time.Sleep(time.Hour)
			synctest.Wait()
			assert.Empty(t, w.objects, "nothing is kept of what was stopped")
			assert.Zero(t, w.Count())
		})
	})
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t}
	w.Keeper = New(func(r Report[claim]) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.reports = append(w.reports, r)
	})
	return w
}

// run calls Run, as an engine with a grace time does.
func (w *world) run(grace time.Duration) {
	w.lost, w.ended = make(chan struct{}), make(chan struct{})
	ctx, end := context.WithCancelCause(source.WithGrace(leader.WithTerm(context.Background(), leader.Term{Lost: w.lost}), grace))
	ended := w.ended
	w.end = end
	go func() {
		defer close(ended)
		w.Run(ctx, w)
	}()
	synctest.Wait()
}

// stops ends Run, and returns how long that takes.
func (w *world) stops(cause error) time.Duration {
	began := time.Now()
	w.end(cause)
	<-w.ended
	return time.Since(began)
}

// Bring, Keys and Failed implement source.Target.
func (w *world) Bring(keys ...deploy.Ref) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.brought += len(keys)
}
func (w *world) Keys() []deploy.Ref { return nil }
func (w *world) Failed(err error)   { w.t.Error(err) }

// bringsOf returns how often the object was brought to reconcile since the last call.
func (w *world) bringsOf() int {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.brought
	w.brought = 0
	return n
}

// told returns the reports since the last call.
func (w *world) told() []Report[claim] {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.reports
	w.reports = nil
	return all
}

// keep is a pass over an object that is to have the daemons.
func (w *world) keep(daemons ...Spec[claim]) Standing {
	defer synctest.Wait()
	return w.Keep(key, "1", &claim{}, daemons)
}

// phase returns the phase of the only daemon of a Standing, empty if there is none.
func phase(s Standing) Phase {
	if len(s) == 0 {
		return ""
	}
	return s[0].Phase
}

// calls are the calls of a daemon.
type calls struct {
	mu       sync.Mutex
	n, alive int
	causes   []error
}

// spec returns a daemon that runs until it is stopped, and then for the time late.
func (c *calls) spec(late time.Duration) Spec[claim] {
	return Spec[claim]{ID: "measure", Grace: 5 * time.Second, Run: c.do(func(ctx context.Context) error {
		<-ctx.Done()
		time.Sleep(late)
		return ctx.Err()
	})}
}

// do counts the calls of a daemon and the causes of their ends.
func (c *calls) do(f func(ctx context.Context) error) func(context.Context, Handle[claim]) error {
	return func(ctx context.Context, _ Handle[claim]) error {
		c.add(1)
		defer func() {
			c.add(-1)
			c.mu.Lock()
			defer c.mu.Unlock()
			if ctx.Err() != nil {
				c.causes = append(c.causes, context.Cause(ctx))
			}
		}()
		return f(ctx)
	}
}

func (c *calls) add(alive int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += max(alive, 0)
	c.alive += alive
}

// state returns how often the daemon was called, and how many of the calls haven't returned.
func (c *calls) state() (n, alive int) {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n, c.alive
}
