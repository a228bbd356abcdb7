package leader

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// transport answers requests, and keeps what it was asked.
type transport struct {
	sent   []string
	answer func(req *http.Request) (*http.Response, error)
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	t.sent = append(t.sent, req.Method)
	if t.answer == nil {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("yes"))}, nil
	}
	return t.answer(req)
}

// body tells whether it was closed.
type body struct {
	io.Reader
	closed bool
}

func (b *body) Close() error { b.closed = true; return nil }

func send(ctx context.Context, through http.RoundTripper) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://cluster/api/v1/pods", &body{Reader: strings.NewReader("x")})
	if err != nil {
		return err
	}
	resp, err := through.RoundTrip(req)
	if !req.Body.(*body).closed && err != nil && errors.Is(err, ErrNotLeading) && resp == nil {
		err = errors.Join(err, errors.New("the body wasn't closed"))
	}
	if err != nil {
		return err
	}
	_, err = io.ReadAll(resp.Body)
	return errors.Join(err, resp.Body.Close())
}

func TestTransport(t *testing.T) {
	t.Parallel()
	t.Run("spec watch mistake 6: nothing passes but while this replica leads", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := newReplica(t, newCluster(t), "a")
			below := &transport{}
			guarded := r.Transport(below)
			assert.EqualError(t, send(t.Context(), guarded), "POST /api/v1/pods: this replica doesn't lead", "before")
			r.windup = time.Minute
			r.start(t)
			<-r.began
			require.NoError(t, send(t.Context(), guarded))
			r.stop()
			time.Sleep(50 * time.Second)
			require.NoError(t, send(t.Context(), guarded), "while the work winds up the lock is still renewed")
			<-r.returned
			require.ErrorIs(t, send(t.Context(), guarded), ErrNotLeading, "afterwards")
			assert.Len(t, below.sent, 2)
		})
	})
	t.Run("the renew deadline is the end of it, while the work doesn't notice", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := newReplica(t, newCluster(t), "a")
			r.windup = time.Minute
			below := &transport{}
			guarded := r.Transport(below)
			r.start(t)
			<-r.began
			r.wire.set(silent, nil)
			time.Sleep(10*time.Second - 1)
			require.NoError(t, send(t.Context(), guarded), "a nanosecond before")
			time.Sleep(time.Nanosecond)
			err := send(t.Context(), guarded)
			require.ErrorIs(t, err, ErrNotLeading)
			require.ErrorIs(t, err, ErrLost)
			synctest.Wait()
			r.wire.set(nil, nil)
			r.wire.sent()
			time.Sleep(30 * time.Second)
			assert.Empty(t, r.wire.sent(), "neither does the lock itself send anything more")
			require.ErrorIs(t, send(t.Context(), guarded), ErrNotLeading, "a term that is over stays over, though the Lease could be renewed")
			assert.False(t, r.Leading())
			assert.Len(t, below.sent, 1)
			require.ErrorIs(t, <-r.returned, ErrLost)
		})
	})
	t.Run("a process that was frozen notices by its first call", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := newReplica(t, newCluster(t), "a").start(t)
			<-r.began
			synctest.Wait()
			below := &transport{}
			frozen := r.current.Load()
			frozen.watchdog.Stop() // timers of a frozen process don't fire, and nothing is renewed
			r.wire.set(silent, nil)
			time.Sleep(time.Minute)
			require.ErrorIs(t, send(t.Context(), r.Transport(below)), ErrLost)
			assert.Empty(t, below.sent)
			require.ErrorIs(t, <-r.returned, ErrLost)
		})
	})
	t.Run("what is under way at the deadline is cancelled", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := newReplica(t, newCluster(t), "a")
			hanging := &transport{answer: func(req *http.Request) (*http.Response, error) {
				<-req.Context().Done()
				return nil, req.Context().Err()
			}}
			// A watch is answered at once, and its body goes on.
			watching := &transport{answer: func(req *http.Request) (*http.Response, error) {
				reader, writer := io.Pipe()
				context.AfterFunc(req.Context(), func() { _ = writer.CloseWithError(context.Cause(req.Context())) })
				return &http.Response{StatusCode: http.StatusOK, Body: reader}, nil
			}}
			r.start(t)
			<-r.began
			r.wire.set(down, nil)
			start := time.Now()
			watched := make(chan error, 1)
			go func() { watched <- send(t.Context(), r.Transport(watching)) }()
			err := send(t.Context(), r.Transport(hanging))
			require.ErrorIs(t, err, ErrNotLeading)
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, <-watched, ErrLost)
			assert.Equal(t, 10*time.Second, time.Since(start))
			require.ErrorIs(t, <-r.returned, ErrLost)
		})
	})
	t.Run("the caller's own end stays the caller's", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := newReplica(t, newCluster(t), "a").start(t)
			<-r.began
			ctx, cancel := context.WithCancel(t.Context())
			err := send(ctx, r.Transport(&transport{answer: func(req *http.Request) (*http.Response, error) {
				cancel()
				<-req.Context().Done()
				return nil, req.Context().Err()
			}}))
			assert.Equal(t, context.Canceled, err)
			_ = ends(r)
		})
	})
	t.Run("a connection that was upgraded can be written to", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := newReplica(t, newCluster(t), "a").start(t)
			<-r.began
			var written bytes.Buffer
			guarded := r.Transport(&transport{answer: func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusSwitchingProtocols, Body: struct {
					io.ReadCloser
					io.Writer
				}{io.NopCloser(strings.NewReader("in")), &written}}, nil
			}})
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://cluster/exec", nil)
			require.NoError(t, err)
			resp, err := guarded.RoundTrip(req)
			require.NoError(t, err)
			defer func() { assert.NoError(t, resp.Body.Close()) }()
			both, ok := resp.Body.(io.ReadWriteCloser)
			require.True(t, ok)
			_, err = both.Write([]byte("out"))
			require.NoError(t, err)
			assert.Equal(t, "out", written.String())
			require.NoError(t, both.Close())
			_ = ends(r)
		})
	})
	t.Run("an answer without a body", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := newReplica(t, newCluster(t), "a").start(t)
			<-r.began
			require.NoError(t, send(t.Context(), r.Transport(&transport{answer: func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusNoContent}, nil
			}})))
			_ = ends(r)
		})
	})
	t.Run("what was answered and closed is forgotten, in a term of any length", func(t *testing.T) {
		t.Parallel()
		r := newReplica(t, newCluster(t), "a").start(t)
		<-r.began
		guarded := r.Transport(&transport{})
		sent := func() weak.Pointer[http.Request] {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://cluster/api", nil)
			require.NoError(t, err)
			resp, err := guarded.RoundTrip(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			return weak.Make(req)
		}()
		require.Eventually(t, func() bool { runtime.GC(); return sent.Value() == nil }, time.Minute, time.Millisecond)
		_ = ends(r)
	})
	t.Run("client-go finds what is below", func(t *testing.T) {
		t.Parallel()
		below := &transport{}
		wrapper, ok := newReplica(t, newCluster(t), "a").Transport(below).(interface{ WrappedRoundTripper() http.RoundTripper })
		require.True(t, ok)
		assert.Same(t, below, wrapper.WrappedRoundTripper())
	})
	t.Run("spec watch 36: without a lock nothing is in the way", func(t *testing.T) {
		t.Parallel()
		below := &transport{}
		assert.Same(t, below, None().Transport(below))
		assert.Equal(t, http.DefaultTransport, None().Transport(nil))
	})
}
