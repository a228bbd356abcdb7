package main

import (
	"reflect"
	"sync/atomic"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	v1 "github.com/operkit/operkit/examples/memcached/api/v1"
	"github.com/stretchr/testify/require"
)

// statuses counts how often the status of a memcached becomes another one.
type statuses struct{ seen atomic.Int64 }

// recordStatuses watches memcacheds from now on.
func (w *world) recordStatuses() *statuses {
	w.t.Helper()
	api, err := cluster.New(w.t.Context(), w.Admin, cluster.Namespaces(w.Namespace))
	require.NoError(w.t, err)
	s := &statuses{}
	subscription, err := api.View().Subscribe(w.t.Context(), v1.MemcachedKind, func(event deploy.Event) {
		if event.Type == deploy.Modified && !reflect.DeepEqual(event.Old.Object["status"], event.New.Object["status"]) {
			s.seen.Add(1)
		}
	})
	require.NoError(w.t, err)
	require.NoError(w.t, subscription.Synced(w.t.Context()))
	return s
}

func (s *statuses) count() int { return int(s.seen.Load()) }
