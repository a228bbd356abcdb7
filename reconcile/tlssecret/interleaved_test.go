package tlssecret_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shop has three replicas that make their steps in any order, also between the read and the write of another one.
type shop struct {
	t        *testing.T
	random   *rand.Rand
	memory   *dryrun.Cluster
	replicas []*replica
	// away: the replica doesn't reach the API server.
	away []bool
	busy []bool
	// published has the time at which each bundle was last the CA of a replica that reaches the API server.
	published map[string]time.Time
	handshakes,
	rolls, restored, restarts int
	name string
}

func (s *shop) restart(i int) {
	s.replicas[i] = join(s.t, s.memory, names(host, fmt.Sprintf("v%d.svc", s.random.IntN(2))))
	s.replicas[i].before = func() {
		if other := s.random.IntN(len(s.replicas)); s.random.IntN(3) == 0 {
			s.step(other)
		}
	}
}

// step lets a replica make one step, unless it is in the middle of one.
func (s *shop) step(i int) {
	if s.busy[i] || s.away[i] {
		return
	}
	s.busy[i] = true
	require.NoError(s.t, s.replicas[i].Step(s.t.Context(), s.random.IntN(2) == 0), s.name)
	s.busy[i] = false
}

func (s *shop) all() {
	for _, i := range s.random.Perm(len(s.replicas)) {
		s.step(i)
	}
}

// check asserts that clients with any bundle that was published in the last hour accept each replica.
func (s *shop) check() {
	now := time.Now()
	for i, r := range s.replicas {
		if !s.away[i] && r.CA() != nil {
			s.published[string(r.CA())] = now
		}
	}
	for bundle, at := range s.published {
		if now.Sub(at) >= time.Hour {
			delete(s.published, bundle)
			continue
		}
		for i, r := range s.replicas {
			if r.CA() != nil {
				require.NoError(s.t, accepts([]byte(bundle), r.chain(s.t), host, now), "%s: replica %d, away %v", s.name, i, s.away)
				s.handshakes++
			}
		}
	}
}

// act does one thing.
func (s *shop) act() {
	i := s.random.IntN(len(s.replicas))
	switch s.random.IntN(12) {
	case 0, 1, 2:
		s.all() // events take no longer than that
		s.check()
		time.Sleep(time.Duration(s.random.IntN(40)) * time.Minute)
	case 3:
		s.all()
		s.check()
		time.Sleep(time.Duration(s.random.IntN(40)) * day)
		s.check()
		s.all()
	case 4:
		annotate(s.t, s.memory, "renew", fmt.Sprint(s.random.Uint64()))
		s.rolls++
	case 5:
		s.all() // a replica that has just come back knows what there is
		remove(s.t, s.memory)
		s.all()
		s.restored++
	case 6:
		if s.away[i] = !s.away[i] && s.replicas[i].CA() != nil && !s.away[(i+1)%3] && !s.away[(i+2)%3]; !s.away[i] {
			s.step(i)
		}
	case 7:
		s.away[i] = false
		s.restart(i)
		s.step(i)
		s.restarts++
	default:
		s.step(i)
	}
}

func TestInterleaved(t *testing.T) {
	handshakes := 0
	inBubble(t, "serving 21: in any order of steps, also between a read and a write, clients with a bundle of the last hour accept each replica", func(t *testing.T) {
		for seed := range seeds() {
			s := &shop{
				t: t, random: rand.New(rand.NewPCG(seed, 7)), memory: newMemory(t), replicas: make([]*replica, 3),
				away: make([]bool, 3), busy: make([]bool, 3), published: map[string]time.Time{}, name: fmt.Sprintf("seed %d", seed),
			}
			for i := range s.replicas {
				s.restart(i)
			}
			s.all()
			for range 120 {
				s.act()
				s.check()
			}
			s.away = make([]bool, 3)
			time.Sleep(2 * time.Hour)
			for range 3 {
				s.all()
			}
			for _, r := range s.replicas {
				r.before = nil
			}
			s.all()
			synctest.Wait()
			works(t, s.replicas...)
			assert.Positive(t, s.rolls*s.restored*s.restarts, s.name)
			handshakes += s.handshakes
		}
	})
	t.Logf("COUNT handshakes of clients with bundles of the last hour %d", handshakes)
}

// seeds is how many orders are tried.
func seeds() uint64 {
	if os.Getenv("OPERKIT_SOAK") != "" {
		return 200
	}
	return 8
}
