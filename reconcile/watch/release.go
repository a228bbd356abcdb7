package watch

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/source"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// errReleased is the cause of the end of the reconciles of a kind that was released.
var errReleased = fmt.Errorf("%w: %w", source.ErrReleased, context.Canceled)

// Release undoes Control while the engine runs; before Run and after its end it returns an error. It cancels the
// reconciles of the kind and stops its external sources. When they have returned, it calls Forget for each known object
// of the kind, and drops the watches of the kind and of the kinds that it declares or owns, and its keys, timers and
// backoffs. Watches of kinds that its objects followed stay. Then Control may be called for the kind again. If ctx ends
// first, Release returns an error that wraps the cause of ctx, and the next call continues. For a kind without a
// reconciler Release does nothing.
func (e *Engine) Release(ctx context.Context, kind schema.GroupVersionKind) error {
	c, err := e.releasing(kind)
	if c == nil || err != nil {
		return err
	}
	c.releasing.Lock()
	defer c.releasing.Unlock()
	if e.of(kind) != c {
		return nil // another call has released it
	}
	if err := c.ended(ctx); err != nil {
		return fmt.Errorf("release %s: it hasn't ended yet: %w", c.kind.Kind, err)
	}
	isOfKind := func(s trigger.Subject) bool { return s.Owner == c.kind }
	e.children.end(isOfKind)
	// After this, no event of the kind is on its way.
	if err := e.inbox.drain(ctx); err != nil {
		return fmt.Errorf("release %s: %w", c.kind.Kind, err)
	}
	e.queue.DropKind(kind.GroupKind())
	for _, key := range e.owners.Keys(c.kind) {
		c.hooks.Forget(key)
	}
	e.owners.DropKind(c.kind)
	e.followers.DropKind(c.kind)
	e.echoes.ForgetKind(c.kind)
	e.outage.forgetKind(c.kind)
	e.kinds.drop(isOfKind)
	e.put(kind.GroupKind(), nil)
	e.options.logger.Info("not watching any more", "kind", c.kind.Kind, "version", c.kind.GroupVersion().String())
	return nil
}

// releasing marks the kind as released, so that no further reconcile begins, and returns it; nil if there is none.
func (e *Engine) releasing(kind schema.GroupVersionKind) (*controlled, error) {
	e.changing.Lock()
	defer e.changing.Unlock()
	c := e.of(kind)
	switch {
	case c == nil:
		return nil, nil
	case e.phase == unstarted:
		return nil, fmt.Errorf("release %s: %w", kind.Kind, errNotRunning)
	case e.phase == ending:
		return nil, fmt.Errorf("release %s: %w", kind.Kind, errStopped)
	}
	c.release()
	return c, nil
}

// prepare sets what c needs before its objects come. e.changing is held, and the engine runs.
func (e *Engine) prepare(c *controlled) {
	life, endLife := context.WithCancelCause(source.WithGrace(e.run, e.options.grace))
	work, endWork := context.WithCancelCause(e.work)
	c.work, c.cancel = work, func() {
		endLife(errReleased)
		endWork(errReleased)
	}
	c.watch = func() {
		defer close(c.unwatched)
		e.watchKind(life, c)
	}
}

// enter begins a reconcile. It returns false if the kind is released.
func (c *controlled) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.released {
		return false
	}
	c.busy++
	return true
}

// leave ends a reconcile.
func (c *controlled) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy--; c.busy == 0 && c.released {
		close(c.idle)
	}
}

func (c *controlled) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.released {
		return
	}
	c.released = true
	c.open.Store(false)
	c.cancel()
	if c.busy == 0 {
		close(c.idle)
	}
}

func (c *controlled) isReleased() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.released
}

// ended waits until a released kind is neither watched nor reconciled.
func (c *controlled) ended(ctx context.Context) error {
	for _, ended := range []chan struct{}{c.unwatched, c.idle} {
		select {
		case <-ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
