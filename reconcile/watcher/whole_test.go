package watcher

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// glancing is a cluster whose View holds only metadata.
type glancing struct{ deploy.Cluster }

func (g glancing) View() deploy.View { return glance{g.Cluster.View()} }

type glance struct{ deploy.View }

// Partial implements deploy.PartialView.
func (v glance) Partial(ctx context.Context, ref deploy.Ref) (object *unstructured.Unstructured, whole bool, err error) {
	object, err = v.Get(ctx, ref)
	return object, false, err
}

func TestWhole(t *testing.T) {
	t.Run("watcher 65: a kind of which only the metadata is held is an error", func(t *testing.T) {
		p := newPlay(t, map[string]any{"policy": map[string]any{"kind": "nil"}})
		memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(p.object(map[string]any{"name": "a", "namespace": "default"})))
		require.NoError(t, err)
		manager, err := deploy.NewManager(glancing{memory})
		require.NoError(t, err)
		made, err := p.watchers.Reconciler(t.Context(), watch.Env{Manager: manager, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
		require.NoError(t, err)
		_, err = made.Reconcile(t.Context(), request.Request{Key: ref("a")})
		assert.ErrorContains(t, err, "watchers of Item: only the metadata of its objects is held")
		assert.True(t, request.IsPermanent(err))
	})
}
