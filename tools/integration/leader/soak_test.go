package leader

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/envtest"
)

const (
	// soakVariable asks for the long history.
	soakVariable = "OPERKIT_SOAK"

	soakKills, soakFreezes, soakEnds    = 10, 5, 3
	shortKills, shortFreezes, shortEnds = 1, 1, 1
	// resources change, one each changePause.
	resources   = 100
	changePause = 20 * time.Millisecond
)

// event is what happens to whoever leads.
type event string

const (
	killed     event = "killed"
	frozen     event = "frozen"
	terminated event = "terminated"
)

// TestSoak has three replicas of an operator keep 100 resources that change all the time, while the one that leads is
// killed, frozen and ended again and again. In the end all are settled, and no term has written into another but for
// calls that were in flight when their sender was frozen.
func TestSoak(t *testing.T) {
	t.Parallel()
	kills, freezes, ends := shortKills, shortFreezes, shortEnds
	if os.Getenv(soakVariable) != "" {
		kills, freezes, ends = soakKills, soakFreezes, soakEnds
	}
	events := slices.Concat(slices.Repeat([]event{killed}, kills), slices.Repeat([]event{frozen}, freezes), slices.Repeat([]event{terminated}, ends))
	rand.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	t.Logf("SOAK leader: %v", events)

	env := envtest.Start(t, envtest.Rights(envtest.RolesIn("testdata/operator.yaml")))
	s := newScene(t, env, resources)
	stop := s.change(changePause)
	replicas := &replicas{t: t, env: env}
	replicas.fill()
	replicas.awaitLeader()
	for i, e := range events {
		s.awaitTerm(int64(i) + 1)
		replicas.happen(i, e)
	}
	s.awaitTerm(int64(len(events)) + 1)
	stop()
	s.settled()
	replicas.end()
	s.judge(int64(len(events))+1, freezes*workers)
}

// replicas are three processes, of which one leads.
type replicas struct {
	t       *testing.T
	env     *envtest.Env
	all     []*process
	leading *process
}

// fill starts replicas until there are three.
func (r *replicas) fill() {
	for len(r.all) < 3 {
		r.all = append(r.all, startWork(r.t, r.env, brief, operating))
	}
}

func (r *replicas) awaitLeader() time.Time {
	leading, at := awaitLeader(r.t, r.all...)
	r.leading = leading
	return at
}

// happen has an event happen to the leader, and waits for the next one. What ended is replaced.
func (r *replicas) happen(number int, e event) {
	r.t.Helper()
	time.Sleep(time.Second + rand.N(time.Second))
	victim := r.leading
	r.all = slices.DeleteFunc(r.all, func(p *process) bool { return p == victim })
	victim.send(r.t, map[event]syscall.Signal{killed: syscall.SIGKILL, frozen: syscall.SIGSTOP, terminated: syscall.SIGTERM}[e])
	start := time.Now()
	took := r.awaitLeader().Sub(start)
	// The last renewal was up to a retry period ago, and a candidate looks as often.
	bound := brief + brief/8 + slack
	switch e {
	case terminated:
		bound = 2*time.Second + slack
		assert.Equal(r.t, "end", victim.awaitEnd(r.t))
	case frozen:
		time.Sleep(500 * time.Millisecond)
		victim.send(r.t, syscall.SIGCONT)
		assert.Contains(r.t, victim.awaitEnd(r.t), "leadership lost", "whoever was frozen notices")
	}
	assert.Less(r.t, took, bound, "hand-over no. %d: %s", number, e)
	r.t.Logf("hand-over no. %d: %s: %s", number, e, took.Round(time.Millisecond))
	r.fill()
}

// end ends all in good order.
func (r *replicas) end() {
	for _, p := range r.all {
		p.send(r.t, syscall.SIGTERM)
	}
	for _, p := range r.all {
		assert.Equal(r.t, "end", p.awaitEnd(r.t))
	}
}

// awaitTerm waits until a term has written: whoever leads says so before its first write is answered.
func (s *scene) awaitTerm(term int64) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		return slices.ContainsFunc(s.history(), func(w stored) bool { return w.term == term })
	}, patience, 20*time.Millisecond, "term %d writes nothing", term)
}

const sourcePrefix = "resource-"

func sourceName(n int) string { return fmt.Sprintf("%s%03d", sourcePrefix, n) }

// settled waits until all resources are brought where they belong.
func (s *scene) settled() {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		wanted, got := s.values(configMaps), s.values(secrets)
		var differ []string
		for name, value := range wanted {
			if got[name] != value {
				differ = append(differ, name+" is "+got[name]+" instead of "+value)
			}
		}
		if len(wanted) == s.resources && len(differ) == 0 {
			return
		}
		require.True(s.t, time.Now().Before(deadline), "not settled: %s", strings.Join(differ, ", "))
		time.Sleep(100 * time.Millisecond)
	}
}

// judge looks at all that was ever written to the Secrets, in the order in which the cluster stored it.
func (s *scene) judge(terms int64, inFlight int) {
	s.t.Helper()
	writes := s.history()
	holders := map[int64]string{}
	inOrder := make([]int64, len(writes))
	for i, w := range writes {
		require.NotEmpty(s.t, w.holder)
		if known, ok := holders[w.term]; ok {
			assert.Equal(s.t, known, w.holder, "a term has one holder")
		}
		holders[w.term], inOrder[i] = w.holder, w.term
	}
	assert.Len(s.t, holders, int(terms), "each term wrote, and there was none but by what happened")
	count := late(inOrder)
	assert.LessOrEqual(s.t, count, inFlight, "writes of one term among those of a later one")
	s.t.Logf("SOAK leader: %d writes of %d terms, %d out of order", len(writes), len(holders), count)
}
