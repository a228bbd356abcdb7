package cluster_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	// soakVariable asks for the long history.
	soakVariable = "OPERKIT_SOAK"
	// seedVariable replays the history of one seed.
	seedVariable = "OPERKIT_SOAK_SEED"

	soakOperations  = 2000
	shortOperations = 60
	shortSeed       = 1
)

// TestSoak has the same random history happen to a cluster in memory and to a real API server, and compares
// what is there, and what every operation said, after each of them: our Managers' applies, sets, deletions
// and restarts, edits by others, requests that fail. There are no controllers, so that nobody else writes.
func TestSoak(t *testing.T) {
	t.Parallel()
	seed, operations := uint64(shortSeed), shortOperations
	if os.Getenv(soakVariable) != "" {
		seed, operations = uint64(time.Now().UnixNano()), soakOperations
	}
	if given := os.Getenv(seedVariable); given != "" {
		var err error
		seed, err = strconv.ParseUint(given, 10, 64)
		require.NoError(t, err, "%s is the number that a failed run printed", seedVariable)
	}
	t.Logf("SOAK deploy: %d operations of the seed %d", operations, seed)
	h := newHistory(t, seed)
	for i := range operations {
		if !h.happen(t, i) {
			t.Logf("to see it again: %s=%d", seedVariable, seed)
			break
		}
	}
	t.Logf("operations %v, results %v", h.drawn, h.said)
	if operations == soakOperations && !t.Failed() {
		assert.Subset(t, slices.Collect(maps.Keys(h.said)), []string{"created", "configured", "unchanged", "replaced", "recreated", "deleted", "skipped", "conflict", "failed"})
	}
}

// history is what happens to both sides.
type history struct {
	dice  *dice
	sides [2]*side
	log   []operation
	// drawn and said count the kinds of operations and of results.
	drawn, said map[string]int
}

func newHistory(t *testing.T, seed uint64) *history {
	env := envtest.Start(t, envtest.OwnCluster("--components=etcd,apiserver"), envtest.CRDs(basketsFile))
	server := newServer(t, env)
	d := &dice{Rand: rand.New(rand.NewPCG(seed, 0)), namespace: env.Namespace}
	for _, name := range []string{"owner-1", "owner-2"} {
		owner, err := server.others.Create(t.Context(), object(t, env.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+"}}"), deploy.CreateOptions{FieldManager: "owner"})
		require.NoError(t, err)
		d.owners = append(d.owners, owner)
	}
	h := &history{dice: d, sides: [2]*side{server, newMemory(t, env.Namespace, d.owners)}, drawn: map[string]int{}, said: map[string]int{}}
	for _, s := range h.sides {
		s.restart(d.owners)
	}
	t.Cleanup(func() {
		for _, s := range h.sides {
			s.end()
		}
	})
	return h
}

// draw draws the next operation.
func (d *dice) draw() operation {
	switch {
	case d.chance(4):
		return operation{kind: "restart", text: "our process starts anew", restart: true}
	case d.chance(50):
		return d.ours()
	}
	return d.theirs()
}

// happen has the next operation happen to both sides, and tells whether they still agree.
func (h *history) happen(t *testing.T, number int) bool {
	op := h.dice.draw()
	h.log = append(h.log, op)
	h.drawn[op.kind]++
	if op.restart {
		for _, s := range h.sides {
			s.restart(h.dice.owners)
		}
		return true
	}
	var said [2][]string
	var states [2]map[string]string
	var errs [2]error
	var both sync.WaitGroup
	for i, s := range h.sides {
		both.Go(func() {
			said[i], states[i], errs[i] = s.happen(t.Context(), op, h.dice.namespace)
		})
	}
	both.Wait()
	where := fmt.Sprintf("operation %d, %s", number, op.text)
	for i, s := range h.sides {
		if !assert.NoError(t, errs[i], "%s: %s", s.name, where) {
			return false
		}
	}
	h.count(said[0])
	ok := assert.Equal(t, said[0], said[1], "what the API server (expected) and the memory (actual) say of %s", where)
	if differ := differing(states[0], states[1]); len(differ) > 0 {
		name := differ[0]
		assert.Equal(t, states[0][name], states[1][name], "%s, the first of %d that differ, on the API server (expected) and in memory (actual) after %s\nwhat touched it before:\n%s",
			name, len(differ), where, h.touched(name))
		return false
	}
	return ok
}

// happen has an operation happen to one side.
func (s *side) happen(ctx context.Context, op operation, namespace string) (said []string, state map[string]string, err error) {
	if err := s.meet(op.trouble); err != nil {
		return nil, nil, err
	}
	said = op.run(ctx, s)
	if err := s.meet(nil); err != nil {
		return nil, nil, err
	}
	state, err = s.state(ctx, namespace)
	return said, state, err
}

var actionSaid = regexp.MustCompile(`^(?:pruned: )?\w+ \S+: (\w+)`)

// count counts the actions of results.
func (h *history) count(said []string) {
	for _, line := range said {
		if found := actionSaid.FindStringSubmatch(line); found != nil {
			h.said[found[1]]++
		}
	}
}

// touched are the last operations on an object before the last one, with those on what isn't known.
func (h *history) touched(name string) string {
	var lines []string
	for i, op := range h.log[:len(h.log)-1] {
		if op.objects == nil || slices.Contains(op.objects, name) {
			lines = append(lines, fmt.Sprintf("%d %s", i, op.text))
		}
	}
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}
