package operator_test

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// balancer forwards connections to one of several addresses, as a Service does: in turn, and past those that don't
// answer.
type balancer struct {
	listener net.Listener
	backends []string
	next     atomic.Int64
	// only is the index of the backend that alone gets connections, -1 for all.
	only atomic.Int64
	// left are the backends that get no new connections, as the Pods that end.
	left [2]atomic.Bool

	mu   sync.Mutex
	open map[net.Conn]bool
}

func newBalancer(t *testing.T, backends ...string) *balancer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b := &balancer{listener: listener, backends: backends, open: map[net.Conn]bool{}}
	b.only.Store(-1)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { b.forward(client) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		b.cut()
		running.Wait()
	})
	return b
}

func (b *balancer) address() string { return b.listener.Addr().String() }

// cut ends all connections.
func (b *balancer) cut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for conn := range b.open {
		_ = conn.Close()
	}
}

// use sends new connections to one backend, or to all for -1, and ends the others.
func (b *balancer) use(backend int) {
	b.only.Store(int64(backend))
	b.cut()
}

func (b *balancer) dial() net.Conn {
	first := int(b.next.Add(1))
	for i := range b.backends {
		at := (first + i) % len(b.backends)
		if only := b.only.Load(); only >= 0 && int(only) != at {
			continue
		}
		if b.left[at].Load() {
			continue
		}
		if conn, err := net.Dial("tcp", b.backends[at]); err == nil {
			return conn
		}
	}
	return nil
}

func (b *balancer) track(conn net.Conn) func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open[conn] = true
	return func() {
		_ = conn.Close()
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.open, conn)
	}
}

func (b *balancer) forward(client net.Conn) {
	defer b.track(client)()
	server := b.dial()
	if server == nil {
		return
	}
	defer b.track(server)()
	var copying sync.WaitGroup
	for _, way := range [][2]net.Conn{{server, client}, {client, server}} {
		copying.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			_ = way[0].Close() // what one side ends is over for both
		})
	}
	copying.Wait()
}
