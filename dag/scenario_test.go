package dag_test

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

// How a node or a predicate of a scenario behaves.
const (
	ok = iota
	fails
	isUnverified
	panics
	exits
	behaviours
)

// scenario is a graph with the behaviour of its nodes and predicates, and what the specification
// says about a run of it.
type scenario struct {
	*model
	graph *dag.Graph[string]
	nodes map[string]int
	// gates are the predicates by dependent and dependency; ok answers true, isUnverified false.
	gates map[[2]string]int

	mu      sync.Mutex
	started []string
	ended   map[string]bool
	asked   map[[2]string]int
	broken  []string
	// cancel is called at the start of the visit, or predicate, with which countdown gets to zero.
	countdown int
	cancel    context.CancelFunc
}

// newScenario makes its decisions by choose(n), a number below n. It checks on the way that the
// graph answers to each change as the model does.
func newScenario(tb testing.TB, choose func(n int) int, mayExit bool) *scenario {
	tb.Helper()
	s := &scenario{model: newModel(), graph: dag.New[string](), nodes: map[string]int{}, gates: map[[2]string]int{}}
	n := 1 + choose(12)
	name := func() string { return string(rune('a' + choose(n+1))) }
	for range n {
		s.addNode(tb, name(), s.behaviour(choose, mayExit))
	}
	for range choose(3 * n) {
		s.addEdge(tb, [2]string{name(), name()}, choose, mayExit)
	}
	for range choose(2 * n) {
		switch choose(6) {
		case 0:
			s.removeNode(name())
		case 1:
			s.removeEdge([2]string{name(), name()})
		case 2:
			s.addNode(tb, name(), s.behaviour(choose, mayExit))
		case 3:
			s.checkReach(tb, s.graph, name(), name())
		case 4: // a snapshot: from here on the graph shares its memory
			require.Equal(tb, s.topology(), s.graph.Topology(), "dag 9")
		default:
			s.addEdge(tb, [2]string{name(), name()}, choose, mayExit)
		}
	}
	for range choose(3) {
		off := name()
		s.graph.Disable(off)
		if !s.has(off) {
			continue
		}
		s.disabled[off] = true
		if choose(2) == 0 {
			s.graph.Enable(off)
			s.disabled[off] = false
		}
	}
	require.Equal(tb, s.String(), s.graph.String(), "dag 11")
	require.Equal(tb, s.topology(), s.graph.Topology(), "dag 9")
	require.Equal(tb, s.layers(), s.graph.Layers())
	require.Equal(tb, len(s.names), s.graph.Len())
	require.Equal(tb, s.model.names, s.graph.Names())
	require.NoError(tb, s.graph.Validate())
	return s
}

func (s *scenario) addEdge(tb testing.TB, edge [2]string, choose func(n int) int, mayExit bool) {
	tb.Helper()
	if !s.checkDepend(tb, s.graph, edge[0], edge[1]) {
		return
	}
	delete(s.gates, edge)
	if choose(3) == 0 {
		s.gates[edge] = s.behaviour(choose, mayExit)
		require.NoError(tb, s.graph.Depend(edge[0], edge[1], dag.When(s.gate(edge, s.gates[edge]))))
	}
}

func (s *scenario) removeNode(name string) {
	s.graph.Remove(name)
	s.remove(name)
	maps.DeleteFunc(s.gates, func(edge [2]string, _ int) bool { return edge[0] == name || edge[1] == name })
}

func (s *scenario) removeEdge(edge [2]string) {
	s.graph.RemoveDependency(edge[0], edge[1])
	s.removeDependency(edge[0], edge[1])
	delete(s.gates, edge)
}

func (s *scenario) addNode(tb testing.TB, name string, behaviour int) {
	tb.Helper()
	err := s.graph.Add(name, name)
	if s.has(name) {
		require.ErrorIs(tb, err, dag.ErrDuplicateNode)
		return
	}
	require.NoError(tb, err)
	s.add(name)
	s.nodes[name] = behaviour
}

// behaviour is ok for every other one.
func (s *scenario) behaviour(choose func(n int) int, mayExit bool) int {
	b := max(0, choose(2*behaviours)-behaviours)
	if b == exits && !mayExit {
		return panics
	}
	return b
}

func (s *scenario) gate(edge [2]string, behaviour int) dag.Predicate {
	return func(context.Context) (bool, error) {
		s.mu.Lock()
		s.count()
		s.asked[edge]++
		if !s.ended[edge[1]] || s.nodes[edge[1]] != ok {
			s.broken = append(s.broken, fmt.Sprintf("predicate of %v asked before the child was verified", edge))
		}
		s.mu.Unlock()
		if err := behave(behaviour); err != nil && behaviour != isUnverified {
			return false, err
		}
		return behaviour == ok, nil
	}
}

func (s *scenario) count() {
	if s.countdown--; s.countdown == 0 {
		s.cancel()
	}
}

func behave(behaviour int) error {
	switch behaviour {
	case fails:
		return errBoom
	case isUnverified:
		return dag.Unverified(dag.Expected(errBoom))
	case panics:
		panic(errBoom)
	case exits:
		runtime.Goexit()
	}
	return nil
}

func (s *scenario) visit(_ context.Context, name string, data string) error {
	s.mu.Lock()
	s.count()
	s.started = append(s.started, name)
	if name != data {
		s.broken = append(s.broken, name+" was visited with the data of "+data)
	}
	for _, child := range s.children[name] {
		if !s.ended[child] || s.nodes[child] != ok {
			s.broken = append(s.broken, name+" started before "+child+" was verified")
		}
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended[name] = true
	}()
	return behave(s.nodes[name])
}

// run runs the graph and checks all that has to be true of any run.
func (s *scenario) run(ctx context.Context, tb testing.TB, options ...dag.Option) dag.State {
	tb.Helper()
	s.started, s.ended, s.asked = nil, map[string]bool{}, map[[2]string]int{}
	var told diary
	state, err := dag.Run(ctx, s.graph, s.visit, append(options, dag.Observe(told.observe))...)
	require.Equal(tb, ctx.Err(), err)
	s.checkEvents(tb, state, told.events)
	require.Empty(tb, s.broken)
	require.Equal(tb, slices.Sorted(slices.Values(s.names)), state.All(), "the partition is complete and disjoint")
	ran := slices.Concat(state.Verified(), state.Unverified(), state.Failed())
	require.ElementsMatch(tb, s.started, ran, "each node at most once")
	for _, set := range [][]string{state.Verified(), state.Unverified(), state.Failed(), state.Unstarted()} {
		require.True(tb, slices.IsSorted(set))
	}
	for _, name := range ran {
		require.False(tb, s.disabled[name])
		require.Empty(tb, state.Reason(name))
		require.Contains(tb, s.set(state, s.nodes[name]), name)
		require.Equal(tb, s.nodes[name] != ok, state.Err(name) != nil)
	}
	for edge, times := range s.asked {
		require.True(tb, times == 1 || s.gates[edge] == isUnverified, "only a false answer is asked again: %v", edge)
	}
	for _, name := range state.Unstarted() {
		s.checkReason(tb, state, name, ctx.Err() != nil)
	}
	return state
}

// checkEvents checks that what an observer was told is what happened, in a possible order.
func (s *scenario) checkEvents(tb testing.TB, state dag.State, events []dag.Event) {
	tb.Helper()
	kinds := map[string][]dag.EventKind{}
	ends := map[string]dag.Outcome{}
	for _, e := range events {
		kinds[e.Name] = append(kinds[e.Name], e.Kind)
		switch e.Kind {
		case dag.EventStarted:
			for _, child := range s.children[e.Name] {
				require.Equal(tb, dag.OutcomeVerified, ends[child], "%s was told to start before %s ended", e.Name, child)
			}
		case dag.EventFinished:
			ends[e.Name] = e.Outcome
			require.Equal(tb, state.Err(e.Name), e.Err)
		default:
			require.NotEmpty(tb, e.Reason)
		}
	}
	require.Len(tb, kinds, len(s.names))
	for name, list := range kinds {
		end, _ := state.Outcome(name)
		require.Equal(tb, end, ends[name])
		list = slices.DeleteFunc(list, func(kind dag.EventKind) bool { return kind == dag.EventWaiting })
		if end == dag.OutcomeUnstarted {
			require.Equal(tb, []dag.EventKind{dag.EventBlocked}, list, name)
		} else {
			require.Equal(tb, []dag.EventKind{dag.EventStarted, dag.EventFinished}, list, name)
		}
	}
}

// set is the one in which nodes of a behaviour end.
func (s *scenario) set(state dag.State, behaviour int) []string {
	switch behaviour {
	case ok:
		return state.Verified()
	case isUnverified:
		return state.Unverified()
	}
	return state.Failed()
}

// checkReason checks that what a node is said to wait for is true.
func (s *scenario) checkReason(tb testing.TB, state dag.State, name string, cancelled bool) {
	tb.Helper()
	reason := state.Reason(name)
	for _, child := range s.children[name] {
		how := "unstarted"
		switch {
		case s.disabled[child]:
			how = "disabled"
		case slices.Contains(state.Failed(), child):
			how = "failed"
		case slices.Contains(state.Unverified(), child):
			how = "unverified"
		case slices.Contains(state.Verified(), child):
			gate, gated := s.gates[[2]string{name, child}]
			if gated && gate == isUnverified && reason == "predicate false on edge to "+child {
				return
			}
			if gated && gate != ok && gate != isUnverified && strings.HasPrefix(reason, "predicate error on edge to "+child+": ") {
				require.Error(tb, state.Err(name))
				return
			}
			continue
		}
		if reason == fmt.Sprintf("waits for %s (%s)", child, how) {
			return
		}
	}
	require.True(tb, s.disabled[name] && reason == "disabled" || cancelled && reason == "cancelled",
		"%s is unstarted: %q\n%s\n%s", name, reason, s, state)
}

// checkOutcome checks that a run which nobody cut short started all that it could.
func (s *scenario) checkOutcome(tb testing.TB, state dag.State) {
	tb.Helper()
	verified := map[string]bool{}
	var started, errs []string
	for _, name := range s.topology() {
		ready := !s.disabled[name]
		for _, child := range s.children[name] {
			ready = ready && verified[child]
		}
		if !ready {
			continue
		}
		for _, child := range s.children[name] {
			if gate := s.gates[[2]string{name, child}]; ready && gate != ok {
				ready = false
				if gate != isUnverified {
					errs = append(errs, name)
				}
			}
		}
		if !ready {
			continue
		}
		started = append(started, name)
		verified[name] = s.nodes[name] == ok
		if s.nodes[name] != ok {
			errs = append(errs, name)
		}
	}
	require.ElementsMatch(tb, started, s.started, "%s\n%s", s, state)
	var names []string
	for _, err := range state.Errors() {
		names = append(names, err.Name)
		require.ErrorIs(tb, state.JoinedErr(), err.Err)
	}
	require.ElementsMatch(tb, errs, names)
	maps.DeleteFunc(verified, func(_ string, v bool) bool { return !v })
	require.Len(tb, state.Verified(), len(verified))
}
