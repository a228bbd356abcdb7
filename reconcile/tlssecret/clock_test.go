package tlssecret_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/reconcile/tlssecret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wrong sets the clock of a process.
func wrong(by *atomic.Int64) func(*tlssecret.Config) {
	return func(c *tlssecret.Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(by.Load())) }
	}
}

func TestClock(t *testing.T) {
	for _, by := range []time.Duration{300 * day, -300 * day, 20 * year, -20 * year, time.Hour} {
		inBubble(t, "serving 23: a process whose clock is wrong goes by the clock of the API server, and says so: "+by.String(), func(t *testing.T) {
			memory := newMemory(t)
			var clock atomic.Int64
			clock.Store(int64(by))
			first := start(t, memory, wrong(&clock))
			synctest.Wait()
			works(t, first)
			second := start(t, memory)
			synctest.Wait()
			works(t, first, second)
			assert.Equal(t, 1, first.log.Count("the clock of this process is wrong: certificates get the time of the API server"))
			serial := first.serial(t)
			first.taken()
			second.taken()
			time.Sleep(day)
			assert.Empty(t, first.taken())
			assert.Empty(t, second.taken())
			assert.Equal(t, serial, second.serial(t))
		})
		inBubble(t, "serving 24: a clock that moves while a process runs changes nothing: "+by.String(), func(t *testing.T) {
			memory := newMemory(t)
			var clock atomic.Int64
			first, second := start(t, memory, wrong(&clock)), start(t, memory)
			time.Sleep(day)
			serial, ca := first.serial(t), first.CA()
			clock.Store(int64(by))
			time.Sleep(3 * time.Hour)
			works(t, second)
			assert.Equal(t, serial, second.serial(t))
			assert.Equal(t, serial, first.serial(t))
			clock.Store(0)
			time.Sleep(3 * time.Hour)
			works(t, first, second)
			assert.Equal(t, ca, second.CA())
			first.taken()
			second.taken()
			time.Sleep(day)
			assert.Empty(t, first.taken())
			assert.Empty(t, second.taken())
		})
	}
	inBubble(t, "serving 25: when the clocks of all move, all is renewed: a process that was suspended notices it", func(t *testing.T) {
		memory := newMemory(t)
		first := start(t, memory)
		synctest.Wait()
		first.stop()
		serial := first.serial(t)
		time.Sleep(300 * day)
		next := start(t, memory)
		synctest.Wait()
		works(t, next)
		assert.NotEqual(t, serial, next.serial(t))
		require.NoError(t, accepts(first.CA(), next.chain(t), host, time.Now()))
		next.stop()
		time.Sleep(30 * year)
		last := start(t, memory)
		synctest.Wait()
		works(t, last)
		assert.NotContains(t, string(last.CA()), string(first.CA()), "it has expired")
	})
}
