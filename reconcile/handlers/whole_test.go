package handlers_test

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

// glancing is a cluster whose View holds only metadata, unless whole is set.
type glancing struct {
	deploy.Cluster
	whole bool
}

func (g glancing) View() deploy.View { return glance{g.Cluster.View(), g.whole} }

type glance struct {
	deploy.View
	whole bool
}

// Partial implements deploy.PartialView.
func (v glance) Partial(ctx context.Context, ref deploy.Ref) (object *unstructured.Unstructured, whole bool, err error) {
	object, err = v.Get(ctx, ref)
	return object, v.whole, err
}

func TestWhole(t *testing.T) {
	t.Run("handlers 37: a kind of which only the metadata is held can't be handled", func(t *testing.T) {
		for _, whole := range []bool{false, true} {
			var j journal
			claim := object(t, small)
			claim.SetNamespace("default")
			memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(claim))
			require.NoError(t, err)
			manager, err := deploy.NewManager(glancing{memory, whole})
			require.NoError(t, err)
			reconciler, err := updating(&j).Reconciler(t.Context(), watch.Env{Manager: manager, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
			require.NoError(t, err)
			_, err = reconciler.Reconcile(t.Context(), request.Request{Key: deploy.Ref{Kind: claims, Namespace: "default", Name: "small"}})
			if whole {
				require.NoError(t, err)
				assert.Equal(t, []string{"all create"}, j.taken())
				continue
			}
			assert.ErrorContains(t, err, "handlers of Claim: only the metadata of its objects is held")
			assert.True(t, request.IsPermanent(err))
			assert.Empty(t, j.taken())
		}
	})
}
