package source

import (
	"context"
	"errors"

	"github.com/operkit/operkit/deploy"
)

// External is a source outside of the cluster: a queue, a webhook, an API that is polled. Channel, Poll and PollEach make
// the usual ones.
type External interface {
	// Run brings keys to target until ctx ends. It is called once the objects of the kind are known. One that returns
	// earlier has nothing more to bring; one that panics is logged and run again, later each time. One that doesn't
	// return when ctx ends holds up the end of the engine.
	Run(ctx context.Context, target Target)
}

// Target is where an External brings its keys: the engine, for the objects of one kind. It is safe for concurrent use and
// never blocks.
type Target interface {
	// Bring has the objects reconciled that keys name. A key without a kind means one of the target's; others are refused,
	// and that is logged once. That an object exists isn't asked.
	Bring(keys ...deploy.Ref)
	// Keys are the objects of the kind that are known at present, in no order.
	Keys() []deploy.Ref
	// Failed logs that the source can't be read. Tell it once for each reason, not with each try.
	Failed(err error)
}

// Func is an External made of a function.
type Func func(ctx context.Context, target Target)

// Run implements External.
func (f Func) Run(ctx context.Context, target Target) { f(ctx, target) }

// Channel brings what comes from a channel, until that is closed. Whoever sends may wait until the key is taken, which
// the engine does without delay; keys that come while nobody leads wait in the channel.
func Channel(keys <-chan deploy.Ref) External { return channel(keys) }

type channel <-chan deploy.Ref

func (c channel) check() error {
	if c == nil {
		return errors.New("its channel is nil")
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
