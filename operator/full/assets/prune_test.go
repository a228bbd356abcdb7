package assets_test

import (
	"context"
	"sync"
	"testing"

	"github.com/operkit/operkit/operator/full/assets"
	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func unwanted(string) bool { return false }

// W18: what somebody uses isn't removed, wherever the process was when the destination was said.
func TestPruneBelowARelativeDestination(t *testing.T) {
	source := released(t)
	t.Chdir(t.TempDir())
	a, _, err := source.open(func(o *assets.Options) { o.Destination = "versions/{version}" })
	require.NoError(t, err)
	require.NoError(t, reconciled(t, a, "1.0.0", func(ctx context.Context, s *reconcile.Session) error {
		removed, err := a.Prune(ctx, unwanted)
		assert.Empty(t, removed)
		var text string
		require.NoError(t, reads(&text)(ctx, s))
		assert.Equal(t, "one", text)
		return err
	}))
	removed, err := a.Prune(t.Context(), unwanted)
	require.NoError(t, err)
	assert.Len(t, removed, 1)
}

// W18, W20: what a session has just found isn't removed under it, either.
func TestPruneWhileSessionsBegin(t *testing.T) {
	t.Parallel()
	source := released(t)
	a, _, err := source.open(nil)
	require.NoError(t, err)
	ctx, done := context.WithCancel(t.Context())
	var sessions, pruning sync.WaitGroup
	pruning.Go(func() {
		for ctx.Err() == nil {
			_, err := a.Prune(context.WithoutCancel(ctx), unwanted)
			assert.NoError(t, err)
		}
	})
	for range 4 {
		sessions.Go(func() {
			for range 25 {
				var text string
				if assert.NoError(t, reconciled(t, a, "1.0.0", reads(&text))) {
					assert.Equal(t, "one", text)
				}
			}
		})
	}
	sessions.Wait()
	done()
	pruning.Wait()
}
