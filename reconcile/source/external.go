package source

import (
	"context"
	"errors"
	"time"

	"github.com/operkit/operkit/deploy"
)

// External is a source outside of the cluster: a queue, a webhook, an API that is polled. Channel, Poll and PollEach
// make the usual sources.
type External interface {
	// Run brings keys to target until ctx ends. It is called when the objects of the kind are known. It may return
	// earlier when it has nothing more to bring. A panic is logged, and Run is called again, after a longer pause each
	// time. A Run that doesn't return when ctx ends delays the end of the engine: GraceOf returns how long it may take.
	// The cause of the end of ctx is ErrReleased if only the kind isn't reconciled any more.
	Run(ctx context.Context, target Target)
}

// ErrReleased is the cause of the end of the context of an External whose kind is no longer reconciled, while the
// engine goes on.
var ErrReleased = errors.New("the kind is no longer reconciled")

type graceKey struct{}

// WithGrace returns a context for Run of an External, which GraceOf reads. The engine of package watch sets its own
// grace time.
func WithGrace(ctx context.Context, grace time.Duration) context.Context {
	return context.WithValue(ctx, graceKey{}, grace)
}

// GraceOf returns how long an External may take to end its work when its context has ended, so that it doesn't delay
// the end of the engine. It returns false if ctx has no such time.
func GraceOf(ctx context.Context) (grace time.Duration, ok bool) {
	grace, ok = ctx.Value(graceKey{}).(time.Duration)
	return grace, ok
}

// Starter may be implemented by an External that has to be ready before the first reconcile of its kind, because
// reconciles read a table that it fills or start work that it receives.
type Starter interface {
	External
	// Start is called before the objects of the kind are read. Until it has returned nil, none of them is reconciled.
	// An error or a panic is logged, State of the engine shows it, and Start is called again after a while. ctx is that
	// of Run: what Start leaves running has to end with it. Keys that are brought meanwhile wait for the first
	// reconcile.
	Start(ctx context.Context, target Target) error
}

// Started is a Starter that is a function. What it starts may bring keys until ctx ends, and nothing has to run for
// that.
type Started func(ctx context.Context, target Target) error

// Start implements Starter.
func (f Started) Start(ctx context.Context, target Target) error { return f(ctx, target) }

// Run implements External: it does nothing.
func (Started) Run(context.Context, Target) {}

// Target takes the keys that an External brings: the engine, for the objects of one kind. It is safe for concurrent use
// and never blocks.
type Target interface {
	// Bring queues a reconcile of each object that keys name, even if the object doesn't exist. A key without a kind
	// has the target's. Keys of other kinds and keys without a name are ignored; the first one of each sort is logged.
	Bring(keys ...deploy.Ref)
	// Keys returns the known objects of the kind, in no order.
	Keys() []deploy.Ref
	// Failed logs that the source can't be read. Call it once for each reason, not with each attempt.
	Failed(err error)
}

// Func is a function as an External.
type Func func(ctx context.Context, target Target)

// Run implements External.
func (f Func) Run(ctx context.Context, target Target) { f(ctx, target) }

// Channel brings the keys of a channel, until the channel is closed. The engine takes them without delay. While this
// replica doesn't lead, nothing takes them: they stay in the buffer of the channel, and when it is full, senders block.
func Channel(keys <-chan deploy.Ref) External { return channel(keys) }

type channel <-chan deploy.Ref

func (c channel) check() error {
	if c == nil {
		return errors.New("nil channel")
	}
	return nil
}

// Run implements External.
func (c channel) Run(ctx context.Context, target Target) {
	for {
		select {
		case <-ctx.Done():
			return
		case key, ok := <-c:
			if !ok {
				return
			}
			target.Bring(key)
		}
	}
}
