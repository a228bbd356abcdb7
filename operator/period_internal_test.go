package operator

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// nothing is a controller whose resources are complete from the start.
type nothing struct{}

func (nothing) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Nothing"}
}

func (nothing) Setup(context.Context, *reconcile.Session) error { return nil }

func TestPeriodOfComplete(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		flags  runFlags
		want   time.Duration
	}{
		{"watch 13: the default is that of package reconcile", runFlags{}, 10 * time.Minute},
		{"watch 13: a longer one", runFlags{periodic: true, period: time.Hour}, time.Hour},
		{"watch 13: none", runFlags{periodic: true}, 0},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			object := &unstructured.Unstructured{}
			object.SetGroupVersionKind(nothing{}.Kind())
			object.SetNamespace("shop")
			object.SetName("a")
			memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(object))
			require.NoError(t, err)
			engine, err := watch.New(memory.View())
			require.NoError(t, err)
			reconciler, err := reconcile.New(nothing{}, deploy.NewManager(memory), reconcilerOptions(engine, slog.Default(), row.flags)...)
			require.NoError(t, err)
			key := request.Key{Kind: nothing{}.Kind(), Namespace: "shop", Name: "a"}
			result, err := reconciler.Reconcile(t.Context(), request.Request{Key: key})
			require.NoError(t, err)
			assert.Equal(t, row.want, result.RequeueAfter)
		})
	}
}
