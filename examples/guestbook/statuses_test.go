package main

import (
	"reflect"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"github.com/stretchr/testify/require"
)

// statuses counts how often the guestbook's status becomes another one.
type statuses struct {
	mu   sync.Mutex
	seen int
}

// recordStatuses watches the guestbook from now on.
func (w *world) recordStatuses() *statuses {
	w.t.Helper()
	api, err := cluster.New(w.t.Context(), w.Admin, cluster.Namespaces(w.Namespace))
	require.NoError(w.t, err)
	s := &statuses{}
	subscription, err := api.View().Subscribe(w.t.Context(), v1.GuestbookKind, func(event deploy.Event) {
		if event.Type == deploy.Modified && !reflect.DeepEqual(event.Old.Object["status"], event.New.Object["status"]) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.seen++
		}
	})
	require.NoError(w.t, err)
	require.NoError(w.t, subscription.Synced(w.t.Context()))
	return s
}

func (s *statuses) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}
