package watcher

import (
	"context"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// thing is the typed object of the benchmark.
type thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Size int64 `json:"size"`
	} `json:"spec"`
}

// BenchmarkAdd measures the event of a new object and the pass that calls Add, without an engine.
func BenchmarkAdd(b *testing.B) {
	memory, err := dryrun.New(dryrun.AnyKind())
	require.NoError(b, err)
	view := &pushedView{}
	manager, err := deploy.NewManager(pushedCluster{memory, view})
	require.NoError(b, err)
	watchers := New[thing](items, Add("w", Simple(Funcs[thing]{Add: func(context.Context, *thing) error { return nil }})))
	made, err := watchers.Reconciler(b.Context(), watch.Env{Manager: manager, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	require.NoError(b, err)
	o := view.push(1)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		o.SetName(strconv.Itoa(i))
		made.(watch.Observer).Observe(added(o))
		_, err := made.Reconcile(b.Context(), request.Request{Key: refOf(o)})
		require.NoError(b, err)
	}
}
