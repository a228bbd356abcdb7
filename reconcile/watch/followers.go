package watch

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
)

// Follow has the object that key names reconciled when another one that it doesn't own comes, changes or goes: a
// Secret that its spec refers to, say. It holds for as long as each reconcile of key that ends without an error asks
// for it again. It returns when the objects of that kind are known, or with the reason why they can't be read. It is to be
// called in a reconcile of key, before the object is read.
func (e *Engine) Follow(ctx context.Context, key deploy.Ref, ref deploy.Ref) error {
	controlled := e.of(key.Kind)
	if controlled == nil {
		return fmt.Errorf("follow %s for %s: the engine has no reconciler for that kind", ref, key)
	}
	key.Kind = controlled.kind
	if err := e.subscribe(ctx, ownership{child: ref.Kind}, e.observeFollowed); err != nil {
		return err
	}
	// Only now: what exists already is about to be read, and no reason to reconcile once more.
	e.followers.Add(key, ref)
	return nil
}

func (e *Engine) observeFollowed(event deploy.Event) {
	for _, key := range e.followers.Of(event) {
		e.queue.Add(key, request.Followed)
	}
}
