package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// single is an API server with one ConfigMap, n/a, whose lists may hang.
type single struct{ hangs atomic.Bool }

func (s *single) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const object = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"5"}}`
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/api/v1":
		_, _ = fmt.Fprint(w, `{"resources":[{"name":"configmaps","kind":"ConfigMap","namespaced":true}]}`)
	case r.URL.Query().Get("sendInitialEvents") != "":
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)
	case r.URL.Query().Get("watch") != "":
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case strings.HasSuffix(r.URL.Path, "/a"):
		_, _ = fmt.Fprint(w, object)
	case s.hangs.Load():
		<-r.Context().Done()
	default:
		_, _ = fmt.Fprint(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[`+object+`]}`)
	}
}

// scoped watches ConfigMaps of the namespace n, which in and out move into the scope and out of it.
func scoped(t *testing.T, s *single) (c *Cluster, in, out func()) {
	t.Helper()
	server := httptest.NewServer(s)
	ctx, cancel := context.WithCancel(t.Context())
	c, err := New(ctx, &rest.Config{Host: server.URL}, Namespaces("n"), Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	t.Cleanup(func() {
		cancel()
		c.Wait()
		server.CloseClientConnections()
		server.Close()
	})
	_, err = c.View().Subscribe(ctx, heldKind, func(deploy.Event) {})
	require.NoError(t, err)
	k := c.store.watched[heldKind]
	require.Eventually(t, func() bool { return k.of("n") != nil }, time.Minute, time.Millisecond)
	found, _ := c.resources.known(heldKind)
	in = func() { k.adjust(ctx, found, namespaces{names: map[string]bool{"n": true}}) }
	out = func() { k.adjust(ctx, found, namespaces{names: map[string]bool{}, exist: map[string]bool{"n": true}}) }
	return c, in, out
}

var singleRef = deploy.Ref{Kind: heldKind, Namespace: "n", Name: "a"}

// To take what is there for absent would be to make it anew.
func TestLeavingIsNotAbsence(t *testing.T) {
	t.Parallel()
	c, in, out := scoped(t, &single{})
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				obj, err := c.View().Get(t.Context(), singleRef)
				assert.NoError(t, err)
				listed, err := c.View().List(t.Context(), heldKind, "n", nil)
				assert.NoError(t, err)
				if !assert.NotNil(t, obj) || !assert.Len(t, listed, 1) {
					return
				}
			}
		})
	}
	for range 100 {
		out()
		in()
		i := c.store.watched[heldKind].of("n")
		require.Eventually(t, func() bool { return i.isCurrent() }, time.Minute, time.Millisecond)
	}
	close(stop)
	readers.Wait()
}

// Whoever waits for what isn't watched any more needn't.
func TestLeavingEndsWaiting(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		hangs bool
		wait  func(ctx context.Context, c *Cluster) error
	}{
		"a read that waits for the first list": {true, func(ctx context.Context, c *Cluster) error {
			obj, err := c.View().Get(ctx, singleRef)
			if err == nil && obj == nil {
				err = fmt.Errorf("it is there")
			}
			return err
		}},
		"who waits for a version":                        {false, func(ctx context.Context, c *Cluster) error { return c.store.Observed(ctx, singleRef, "99") }},
		"who waits for a version, before the first list": {true, func(ctx context.Context, c *Cluster) error { return c.store.Observed(ctx, singleRef, "99") }},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s := &single{}
			s.hangs.Store(row.hangs)
			c, _, out := scoped(t, s)
			time.AfterFunc(100*time.Millisecond, out)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			require.NoError(t, row.wait(ctx, c))
		})
	}
}

// That nothing is known of namespaces isn't that there are none.
func TestScopeStaysWhileNamespacesArentServed(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		unread error
		want   []string
	}{
		"served": {nil, nil},
		"not":    {&deploy.KindUnknownError{Kind: namespaceKind}, []string{"team-a"}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s := &store{}
			c := newScope(s, []string{"team-*"}, nil)
			known := namespaces{names: map[string]bool{"team-a": true}}
			c.current, c.kind.unread = known, row.unread
			c.look()
			now, _ := c.of(deploy.Namespaced)
			assert.Equal(t, row.want, slices.Collect(maps.Keys(now.names)))
		})
	}
}
