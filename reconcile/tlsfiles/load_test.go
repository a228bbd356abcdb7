package tlsfiles_test

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/tlsfiles"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestUnderLoad rotates certificates and CAs while clients make handshakes.
func TestUnderLoad(t *testing.T) {
	t.Parallel()
	const wanted = 500
	t.Run("files 12: no handshake fails while certificates and CAs are replaced", func(t *testing.T) {
		t.Parallel()
		first := issue(t, nil, 100*time.Hour)
		server := open(t, secret(issue(t, first, time.Hour, "web"), first), tlsfiles.VerifyClients())
		client := open(t, secret(issue(t, first, time.Hour), first))
		listener, err := tls.Listen("tcp", "127.0.0.1:0", server.Server())
		require.NoError(t, err)
		var serving, dialling sync.WaitGroup
		serving.Go(func() { serve(listener, &serving) })

		var failed atomic.Int64
		config, crowd := client.Client("web"), newCrowd(wanted)
		for who := range diallers {
			dialling.Go(func() {
				for crowd.next(who) {
					if err := dial(listener.Addr().String(), config); err != nil {
						failed.Add(1)
						t.Error(err)
					}
				}
			})
		}
		old, rolls := first, 0
		tell := func(put func(dir string)) {
			put(server.dir)
			put(client.dir)
			// As when an operator replaces a CA, the next stage begins when both have read everything and what began
			// before is over.
			for _, one := range []*side{server, client} {
				one.clock.advance(time.Second)
				if err := one.Check(); err != nil {
					t.Error(err)
				}
			}
			crowd.await()
		}
		for !crowd.done() {
			next := issue(t, nil, 100*time.Hour)
			tell(func(dir string) { mount(t, dir, secret(issue(t, old, time.Hour, "web"), old, next)) })
			tell(func(dir string) { mount(t, dir, secret(issue(t, next, time.Hour, "web"), old, next)) })
			tell(func(dir string) { mount(t, dir, secret(issue(t, next, time.Hour, "web"), next)) })
			old, rolls = next, rolls+1
		}
		dialling.Wait()
		require.NoError(t, listener.Close())
		serving.Wait()
		assert.Zero(t, failed.Load())
		assert.Positive(t, rolls)
		assert.Zero(t, server.log.warnings()+client.log.warnings(), "%s%s", server.log, client.log)
		t.Logf("COUNT handshakes=%d failed=%d replaced CAs=%d", wanted, failed.Load(), rolls)
	})
}

// diallers is how many clients there are at a time.
const diallers = 8

// crowd counts the handshakes that clients begin.
type crowd struct {
	mu    sync.Mutex
	moved *sync.Cond
	begun [diallers]int
	left  int
}

func newCrowd(wanted int) *crowd {
	c := &crowd{left: wanted}
	c.moved = sync.NewCond(&c.mu)
	return c
}

// next reports whether a client shall begin another handshake. Its last one is over.
func (c *crowd) next(who int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun[who]++
	c.left--
	c.moved.Broadcast()
	return c.left >= 0
}

func (c *crowd) done() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left <= 0
}

// await waits until each client has begun another handshake, or none begins any more.
func (c *crowd) await() {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.begun
	for who := range before {
		for c.begun[who] == before[who] && c.left > -diallers {
			c.moved.Wait()
		}
	}
}

// serve ends with its listener.
func serve(listener net.Listener, serving *sync.WaitGroup) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		serving.Go(func() {
			_, _ = conn.Write([]byte("ok"))
			_ = conn.Close()
		})
	}
}

func dial(address string, config *tls.Config) error {
	conn, err := tls.Dial("tcp", address, config)
	if err != nil {
		return err
	}
	_, err = conn.Read(make([]byte, 2))
	return errors.Join(err, conn.Close())
}
