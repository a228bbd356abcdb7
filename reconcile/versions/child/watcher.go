package child

import (
	"context"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// watcher has the manager watch.
type watcher struct{ peer *wire.Peer }

// Own implements reconcile.Watcher.
func (w *watcher) Own(ctx context.Context, _, child schema.GroupVersionKind) error {
	return w.peer.Call(ctx, wire.Own, wire.Read{Session: sessionOf(ctx), Ref: wire.Ref{Kind: wire.NewKind(child)}}, nil)
}

// Follow implements reconcile.Follower.
func (w *watcher) Follow(ctx context.Context, _ deploy.Ref, ref deploy.Ref) error {
	return w.peer.Call(ctx, wire.Follow, wire.Read{Session: sessionOf(ctx), Ref: *wire.NewRef(ref)}, nil)
}
