package reconcile_test

import (
	"context"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hourly is a controller that says itself when a resource comes again.
type hourly struct{ setup }

func (hourly) Requeue(context.Context, *reconcile.Session, reconcile.Outcome) (time.Duration, error) {
	return time.Hour, nil
}

// A reconcile that has nothing left to do says which states it left, and only that one.
func TestWrote(t *testing.T) {
	t.Parallel()
	door := setup(func(_ context.Context, s *reconcile.Session) error {
		s.Add("door", configMap("door"))
		return nil
	})
	for reason, row := range map[string]struct {
		controller reconcile.Controller
		first      int
	}{
		"complete":                     {door, 1},
		"with a time of its own":       {hourly{door}, 1},
		"what waits is looked at anew": {Shop{}, 0},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			cluster := emptyCluster()
			reconciler, err := reconcile.New(row.controller, must(deploy.NewManager(cluster)))
			require.NoError(t, err)
			req := request.Request{Key: deploy.Ref{Kind: ShopKind, Namespace: "market", Name: "tea"}}
			result, err := reconciler.Reconcile(t.Context(), req)
			require.NoError(t, err)
			require.Len(t, result.Wrote, row.first)
			for _, state := range result.Wrote {
				obj, err := cluster.Port().Get(t.Context(), deploy.Ref{Kind: configMap("door").GroupVersionKind(), Namespace: "market", Name: "door"})
				require.NoError(t, err)
				assert.Equal(t, request.Revision{UID: obj.GetUID(), ResourceVersion: obj.GetResourceVersion()}, state)
			}
			result, err = reconciler.Reconcile(t.Context(), req)
			require.NoError(t, err)
			assert.Empty(t, result.Wrote, "nothing was written")
		})
	}
}
