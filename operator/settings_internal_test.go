package operator

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
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

// settled is a process with these flags.
func settled(t *testing.T, flags ...string) *process {
	t.Helper()
	o := New("op")
	s := o.newSettings()
	require.NoError(t, s.Flags().Parse(flags))
	c, err := s.Load(nil)
	require.NoError(t, err)
	return &process{Config: c, operator: o, settings: s, logger: slog.New(slog.DiscardHandler)}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		flags []string
		qps   float32
		burst int
	}{
		"the default":                      {nil, 200, 400},
		"a burst follows from the queries": {[]string{"--kube-api.qps=50"}, 50, 100},
		"and is never none":                {[]string{"--kube-api.qps=0.1"}, 0.1, 1},
		"both":                             {[]string{"--kube-api.qps=1000", "--kube-api.burst=3000"}, 1000, 3000},
		"only the burst":                   {[]string{"--kube-api.burst=300"}, 200, 300},
	} {
		client, err := settled(t, append(row.flags, "--kubeconfig", filepath.Join("testdata", "good.kubeconfig"))...).clientConfig(t.Context())
		require.NoError(t, err, reason)
		assert.Equal(t, row.qps, client.QPS, reason)
		assert.Equal(t, row.burst, client.Burst, reason)
	}
}

func TestPeriodOfComplete(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		flags  []string
		coded  []reconcile.Option
		want   time.Duration
	}{
		{"watch 13: the default", nil, nil, 10 * time.Minute},
		{"watch 13: a longer one", []string{"--watch.period=1h"}, nil, time.Hour},
		{"watch 13: none", []string{"--watch.period=0"}, nil, 0},
		{"what the program says of a controller", nil, []reconcile.Option{reconcile.Period(time.Minute)}, time.Minute},
		{"what somebody asks for counts more", []string{"--watch.period=10m"}, []reconcile.Option{reconcile.Period(time.Minute)}, 10 * time.Minute},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			object := &unstructured.Unstructured{}
			object.SetGroupVersionKind(nothing{}.Kind())
			object.SetNamespace("shop")
			object.SetName("a")
			memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(object))
			require.NoError(t, err)
			p := settled(t, row.flags...)
			options := slices.Concat(p.defaultOptions(), row.coded, p.givenOptions())
			manager, err := deploy.NewManager(memory)
			require.NoError(t, err)
			reconciler, err := reconcile.New(nothing{}, manager, options...)
			require.NoError(t, err)
			key := deploy.Ref{Kind: nothing{}.Kind(), Namespace: "shop", Name: "a"}
			result, err := reconciler.Reconcile(t.Context(), request.Request{Key: key})
			require.NoError(t, err)
			assert.Equal(t, row.want, result.RequeueAfter)
		})
	}
}
