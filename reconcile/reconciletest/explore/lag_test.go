package explore

import (
	"context"
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestLags(t *testing.T) {
	var seen []string
	looking := func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
		old, err := m.env.Manager.View().Get(ctx, deploy.RefOf(resource))
		if err != nil {
			return err
		}
		live, err := m.cached(ctx, "Deployment", "till", resource)
		if err != nil {
			return err
		}
		seen = append(seen, fmt.Sprint(sizeOf(resource), sizeOf(old), live != nil, serves(live)))
		if live == nil {
			return m.create(ctx, resource, till)
		}
		return nil
	}
	o, err := newOptions([]Option{Definitions("testdata/faults/crd"), Samples("testdata/faults/samples")})
	require.NoError(t, err)
	e := explorerOf(t, func() *manual { return newManual(looking, true, "Deployment") }, o, startDriven)
	lives, err := e.lives()
	require.NoError(t, err)
	edited, err := e.named("Shop.explore.operkit.dev tea with spec.size: 2", lives)
	require.NoError(t, err)
	known, err := e.learn(edited)
	require.NoError(t, err)
	for _, row := range []struct {
		reason string
		act    act
		want   []string // the size that the API server and the one that a watch shows, and what is seen of the Deployment
	}{
		{"the resource is seen late, and the Deployment at once", lagResource, []string{"1 1 false false", "2 1 true false", "2 1 true true", "2 2 true true"}},
		{"the Deployment is seen late, and the resource at once", lagChildren, []string{"1 1 false false", "1 1 true false", "2 2 true false", "2 2 true true"}},
	} {
		t.Run("explore 12: "+row.reason, func(t *testing.T) {
			seen = nil
			tr, err := e.attempt(known, plan{{1, 2, row.act}})
			require.NoError(t, err)
			require.GreaterOrEqual(t, len(seen), len(row.want))
			assert.Equal(t, row.want, seen[:len(row.want)])
			assert.Nil(t, known.judge(tr))
		})
	}
}
