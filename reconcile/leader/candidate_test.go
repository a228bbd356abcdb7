package leader

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCandidateThatCannotRead(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		fail   func(context.Context, string) error
	}{
		{"spec watch mistake 3: a read error never steals", down},
		{"neither does a read that is never answered", silent},
		{"nor one that is forbidden", func(context.Context, string) error {
			return &deploy.ForbiddenError{Verb: "get", Namespace: "shop", Name: "op", Err: errors.New("no")}
		}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster(t, leaseOf(map[string]any{"holderIdentity": "x", "leaseDurationSeconds": int64(1)}))
				r := newReplica(t, cluster, "a")
				r.wire.set(row.fail, nil)
				r.start(t)
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				for _, call := range r.wire.sent() {
					assert.Equal(t, "get", call)
				}
				assert.Equal(t, "x", specOf(t, cluster).holder)
				assert.Len(t, r.lines(), 1, "what goes on for minutes is said once")
				r.wire.set(nil, nil)
				within(t, leadsAfter(t, r), time.Second, 10*time.Second, "what was not read for so long is watched for its whole duration")
				assert.Contains(t, r.log.String(), "the lock can be read and written again")
				_ = ends(r)
			})
		})
	}
}

func TestCandidates(t *testing.T) {
	t.Parallel()
	t.Run("spec watch mistake 5: of many that want it at once one gets it", func(t *testing.T) {
		t.Parallel()
		for _, spec := range []map[string]any{nil, {"holderIdentity": "x", "leaseDurationSeconds": int64(1)}} {
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster(t)
				if spec != nil {
					cluster = newCluster(t, leaseOf(spec))
				}
				var all []*replica
				for i := range 8 {
					r := newReplica(t, cluster, fmt.Sprint("r", i))
					r.wire.set(func(ctx context.Context, verb string) error {
						if verb != "get" { // all have read by then
							pause(ctx, time.Millisecond)
						}
						return nil
					}, nil)
					all = append(all, r.start(t))
				}
				time.Sleep(time.Minute)
				leading := 0
				for _, r := range all {
					if r.Leading() {
						leading++
					}
				}
				assert.Equal(t, 1, leading)
				for _, r := range all {
					r.stop()
				}
				for _, r := range all {
					<-r.returned
					assert.NotContains(t, r.log.String(), "level=WARN", "to be too late is no trouble")
				}
			})
		}
	})
	t.Run("clocks that are hours apart change nothing", func(t *testing.T) {
		t.Parallel()
		for _, skew := range []time.Duration{-3 * time.Hour, 3 * time.Hour} {
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster(t)
				first := newReplica(t, cluster, "a")
				first.wire.skew = skew
				first.start(t)
				<-first.began
				second := newReplica(t, cluster, "b").start(t)
				time.Sleep(10 * time.Minute)
				assert.False(t, second.Leading(), skew)
				first.wire.set(down, nil)
				within(t, leadsAfter(t, second), 13*time.Second, 16200*time.Millisecond, skew.String())
				<-first.returned
				_ = ends(second)
			})
		}
	})
	t.Run("an outage of the API server for all: the leader stops, one leads afterwards", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t)
			first := newReplica(t, cluster, "a").start(t)
			<-first.began
			second := newReplica(t, cluster, "b").start(t)
			time.Sleep(time.Minute)
			first.wire.set(silent, nil)
			second.wire.set(silent, nil)
			time.Sleep(time.Minute)
			require.ErrorIs(t, <-first.returned, ErrLost)
			assert.False(t, second.Leading(), "a Lease that can't be read isn't taken, however old it is")
			second.wire.set(nil, nil)
			<-second.began
			_ = ends(second)
		})
	})
	t.Run("an outage shorter than the renew deadline changes nothing", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t)
			r := newReplica(t, cluster, "a").start(t)
			<-r.began
			time.Sleep(time.Second)
			for range 20 {
				r.wire.set(down, nil)
				time.Sleep(5500 * time.Millisecond)
				r.wire.set(nil, nil)
				time.Sleep(3 * time.Second)
				require.True(t, r.Leading())
			}
			_ = ends(r)
		})
	})
	t.Run("who leads is said once per change", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t)
			first := newReplica(t, cluster, "a").start(t)
			<-first.began
			second := newReplica(t, cluster, "b").start(t)
			time.Sleep(10 * time.Minute)
			_ = ends(first)
			<-second.began
			_ = ends(second)
			assert.Equal(t, []string{
				`level=INFO msg="another replica leads" leader=` + first.Identity(),
				`level=INFO msg="this replica leads"`, `level=INFO msg="the leadership was released"`,
			}, second.lines())
		})
	})
}
