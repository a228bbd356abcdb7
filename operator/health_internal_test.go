package operator

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// stubborn doesn't return before it is released, whatever its context says.
type stubborn struct{ release chan struct{} }

func (s stubborn) Reconcile(context.Context, request.Request) (request.Result, error) {
	<-s.release
	return request.Result{}, nil
}

func TestHealth(t *testing.T) {
	t.Parallel()
	t.Run("watch mistake 20: who waits for his turn is well and ready", func(t *testing.T) {
		t.Parallel()
		h := &health{standby: true}
		require.NoError(t, h.alive())
		require.NoError(t, h.ready())
	})
	t.Run("who has no turn to wait for is ready when he works", func(t *testing.T) {
		t.Parallel()
		h := &health{}
		require.NoError(t, h.alive())
		require.EqualError(t, h.ready(), "nothing is watched yet")
		memory, err := dryrun.New(dryrun.AnyKind())
		require.NoError(t, err)
		engine, err := watch.New(memory.View(), watch.Logger(slog.New(slog.DiscardHandler)))
		require.NoError(t, err)
		h.works(engine)
		require.EqualError(t, h.ready(), "nothing is watched yet")
	})
	t.Run("watch mistake 20: work that can't go on is no life", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var objects []*unstructured.Unstructured
			for _, name := range []string{"a", "b"} {
				object := &unstructured.Unstructured{}
				object.SetGroupVersionKind(nothing{}.Kind())
				object.SetNamespace("shop")
				object.SetName(name)
				objects = append(objects, object)
			}
			memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(objects...))
			require.NoError(t, err)
			engine, err := watch.New(memory.View(), watch.Workers(1), watch.Timeout(time.Minute), watch.Logger(slog.New(slog.DiscardHandler)))
			require.NoError(t, err)
			release := make(chan struct{})
			require.NoError(t, engine.Control(nothing{}.Kind(), stubborn{release}))
			ctx, stop := context.WithCancel(t.Context())
			h := &health{}
			h.works(engine)
			go func() { assert.NoError(t, engine.Run(ctx)) }()
			synctest.Wait()
			require.NoError(t, h.ready())
			require.NoError(t, h.alive(), "a reconcile may take its time")
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			require.ErrorContains(t, h.alive(), "resources wait (1), and all workers that could reconcile some of them are stuck (1): the first one has worked on Nothing shop/")
			close(release)
			synctest.Wait()
			require.NoError(t, h.alive())
			stop()
			synctest.Wait()
		})
	})
}

func TestProbe(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{"ok\n": nil, "out of steam\n": errors.New("out of steam")} {
		answer := httptest.NewRecorder()
		serveProbes(func() error { return err }, nil, nil)(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/healthz", nil))
		assert.Equal(t, want, answer.Body.String())
		assert.Equal(t, err == nil, answer.Code == http.StatusOK)
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	handler := http.NotFoundHandler()
	silent := slog.New(slog.DiscardHandler)
	t.Run("nowhere", func(t *testing.T) {
		t.Parallel()
		serve, err := listen([]endpoint{{key: "a", address: config.NoAddress, usual: "127.0.0.1:0", handler: handler}, {key: "b", address: config.AutoAddress, usual: "256.0.0.1:0", handler: handler}}, false, silent)
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		stop()
		serve(ctx)
	})
	t.Run("auto is somewhere in a Pod", func(t *testing.T) {
		t.Parallel()
		_, err := listen([]endpoint{{key: "b", address: config.AutoAddress, usual: "256.0.0.1:0", handler: handler}}, true, silent)
		require.ErrorContains(t, err, "b 256.0.0.1:0: ")
	})
	t.Run("what was opened is closed when another one can't be", func(t *testing.T) {
		t.Parallel()
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		free, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		address := free.Addr().String()
		require.NoError(t, free.Close())
		_, err = listen([]endpoint{{key: "a", address: address, usual: "", handler: handler}, {key: "b", address: taken.Addr().String(), usual: "", handler: handler}}, false, silent)
		require.EqualError(t, err, "b "+taken.Addr().String()+": bind: address already in use: set another address, or the value off")
		again, err := net.Listen("tcp", address)
		require.NoError(t, err)
		require.NoError(t, again.Close())
		require.NoError(t, taken.Close())
	})
}
