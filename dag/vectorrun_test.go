package dag_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

// vectorRun is a runner case: the graph, and what the specification says about it.
type vectorRun struct {
	t          *testing.T
	input      vectorInput
	graph      *dag.Graph[string]
	model      *model
	gates      map[[2]string]*vectorGate
	mu         sync.Mutex
	ran        []string
	behaviours map[string]string
}

// vectorGate is a predicate: what it answers one after the other, or the error it always gives.
type vectorGate struct {
	answers []bool
	err     error
	mu      sync.Mutex
	asked   int
}

func newVectorRun(t *testing.T, input vectorInput) *vectorRun {
	t.Helper()
	return &vectorRun{t: t, input: input, graph: dag.New[string](), model: newModel(),
		gates: map[[2]string]*vectorGate{}, behaviours: map[string]string{}}
}

// build makes the graph of the case.
func (r *vectorRun) build() error {
	for _, node := range r.input.Nodes {
		if err := r.graph.Add(node.name, node.behaviour); err != nil {
			return err
		}
		r.model.add(node.name)
		r.behaviours[node.name] = node.behaviour
	}
	for _, raw := range r.input.Edges {
		var edge [2]string
		require.NoError(r.t, json.Unmarshal(raw[0], &edge[0]))
		require.NoError(r.t, json.Unmarshal(raw[1], &edge[1]))
		gate := r.gate(raw[2:])
		var options []dag.EdgeOption
		if gate != nil {
			options = append(options, dag.When(gate.ask))
		}
		if err := r.graph.Depend(edge[0], edge[1], options...); err != nil {
			return err
		}
		if !slices.Contains(r.model.children[edge[0]], edge[1]) {
			r.model.children[edge[0]] = append(r.model.children[edge[0]], edge[1])
		}
		r.gates[edge] = gate
	}
	for _, name := range r.input.Disabled {
		r.graph.Disable(name)
		r.model.disabled[name] = true
	}
	for _, name := range r.input.Reenabled {
		r.graph.Enable(name)
		r.model.disabled[name] = false
	}
	return nil
}

// gate reads {"raise": message} or a list of answers of which only true is one.
func (r *vectorRun) gate(raw []json.RawMessage) *vectorGate {
	if len(raw) == 0 || string(raw[0]) == "null" {
		return nil
	}
	var raises struct {
		Raise string `json:"raise"`
	}
	if json.Unmarshal(raw[0], &raises) == nil {
		return &vectorGate{err: errors.New(raises.Raise)}
	}
	var list []any
	require.NoError(r.t, json.Unmarshal(raw[0], &list))
	require.NotEmpty(r.t, list)
	gate := &vectorGate{}
	for _, answer := range list {
		gate.answers = append(gate.answers, answer == true)
	}
	return gate
}

func (g *vectorGate) ask(context.Context) (bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked++
	if g.err != nil {
		return false, g.err
	}
	return g.answers[min(g.asked, len(g.answers))-1], nil
}

// changes tells whether it depends on how often it is asked what it says in the end.
func (g *vectorGate) changes() bool {
	return g != nil && len(g.answers) > 0 && slices.Contains(g.answers, true) && !g.answers[0]
}

func (g *vectorGate) opens() bool { return g == nil || len(g.answers) > 0 && g.answers[0] }

func (r *vectorRun) options() []dag.Option {
	var options []dag.Option
	if r.input.Threads != nil {
		options = append(options, dag.Concurrency(*r.input.Threads))
	}
	if r.input.VerifyUpstream != nil && !*r.input.VerifyUpstream {
		options = append(options, dag.WithoutPredicates())
	}
	return options
}

// invalid is what is wrong with the options.
func (r *vectorRun) invalid() error {
	_, err := dag.Run(r.t.Context(), dag.New[string](), nil, r.options()...)
	return err
}

// errNoCause stands for the cause of a halt that has none.
var errNoCause = errors.New("no cause")

// vectorCause is an exception of the framework, which says whether it is fatal, or another one.
func vectorCause(kind, node string) error {
	err := fmt.Errorf("%w", &vectorException{vectorError{Type: kind, Message: "msg-" + node}})
	switch kind {
	case "":
		return nil
	case "ConfigError", "ClusterError", "RolloutError", "Oper8FatalError":
		return &vectorFlag{err, true}
	case "PreconditionError", "VerificationError", "Oper8ExpectedError":
		return &vectorFlag{err, false}
	}
	return err
}

type vectorException struct{ vectorError }

func (e *vectorException) Error() string { return e.Message }

type vectorFlag struct {
	error
	fatal bool
}

func (e *vectorFlag) Unwrap() error { return e.error }
func (e *vectorFlag) Fatal() bool   { return e.fatal }

func (r *vectorRun) visit(_ context.Context, name, behaviour string) error {
	r.mu.Lock()
	r.ran = append(r.ran, name)
	r.mu.Unlock()
	time.Sleep(dag.DefaultPollInterval - time.Millisecond)
	how, cause, _ := strings.Cut(behaviour, ":")
	switch how {
	case "ok", "none", "return_false": // what a function returns doesn't count (rule 19)
		return nil
	case "halt_nofail":
		return dag.Unverified(vectorCause(cause, name))
	case "halt_fail":
		if err := vectorCause(cause, name); err != nil {
			return err
		}
		return errNoCause
	case "raise":
		return errBoom
	case "base":
		if r.input.Threads != nil && *r.input.Threads == 0 {
			panic("an exit on the caller's goroutine would end the test")
		}
		runtime.Goexit()
	}
	r.t.Errorf("behaviour %q is unknown", behaviour)
	return nil
}

// check runs the graph, checks the result against the specification, and returns the rules by
// which it differs from what was recorded.
func (r *vectorRun) check(c *vectorCase) []string {
	state, err := dag.Run(r.t.Context(), r.graph, r.visit, r.options()...)
	require.NoError(r.t, err)
	r.checkSpecification(state)
	got := r.output(state)
	parts := []string{"run returns"}
	if c.Output != nil {
		parts = c.Output.differences(got)
	}
	for _, variant := range c.Variants {
		if other := variant.Output.differences(got); len(other) < len(parts) {
			parts = other
		}
	}
	if len(parts) == 0 {
		return nil
	}
	rules := r.deviations(parts, state)
	require.NotEmpty(r.t, rules, "no rule explains why %v differ:\nrecorded %+v\ngot      %+v", parts, c.Output, got)
	return rules
}

// output is the state in the form of the recorded one.
func (r *vectorRun) output(state dag.State) *vectorOutput {
	text, _, _ := strings.Cut(state.String(), "\nError: ")
	out := &vectorOutput{
		Verified: state.Verified(), Unverified: state.Unverified(), Failed: state.Failed(), Unstarted: state.Unstarted(),
		DeployCompleted: state.DeployCompleted(), VerifyCompleted: state.VerifyCompleted(), IsFailed: state.HasFailed(),
		Str: text, Ran: slices.Sorted(slices.Values(r.ran)), Repr: r.graph.String(),
	}
	var headline dag.NodeError
	var exception *vectorException
	switch {
	case !errors.As(state.Headline(), &headline), errors.Is(headline.Err, errNoCause), headline.Err.Error() == "unverified":
	case errors.As(headline.Err, &exception):
		out.Exception = &exception.vectorError
	default:
		out.Exception = &vectorError{Type: "RuntimeError", Message: headline.Err.Error()}
	}
	return out
}

// deviations are the rules of the specification by which Go differs in these parts.
func (r *vectorRun) deviations(parts []string, state dag.State) (rules []string) {
	disabled := map[string]int{}
	for _, name := range r.input.Disabled {
		disabled[name]++
	}
	for _, name := range r.input.Reenabled {
		if disabled[name] > 1 {
			rules = append(rules, "W8: disabled is a set, one enable undoes it")
		}
	}
	for _, name := range r.ran {
		if r.behaviours[name] == "base" {
			rules = append(rules, "W1: a node that ends its thread has failed")
		}
	}
	for edge, gate := range r.gates {
		switch {
		case gate != nil && gate.err != nil && slices.Contains(state.Verified(), edge[1]):
			rules = append(rules, "W3: a predicate's error leaves its node unstarted and the run goes on")
		case gate.changes():
			rules = append(rules, "W5: false predicates are asked again by time, not once per pass")
		case gate != nil && slices.Contains(gate.answers, false) && gate.opens():
			rules = append(rules, "18: a true answer is remembered, and none asked for before all children are verified")
		}
	}
	if slices.Equal(parts, []string{"exception"}) {
		plain := slices.ContainsFunc(r.ran, func(name string) bool { return r.behaviours[name] == "raise" })
		if plain || len(state.Errors()) > 1 {
			rules = append(rules, "W2: every node keeps its error, the first fatal one is the headline")
		}
	}
	slices.Sort(rules)
	return slices.Compact(rules)
}

// checkSpecification checks the state against the rules, whatever was recorded.
func (r *vectorRun) checkSpecification(state dag.State) {
	t := r.t
	ends := map[string]string{}
	for end, names := range map[string][]string{"verified": state.Verified(), "unverified": state.Unverified(),
		"failed": state.Failed(), "unstarted": state.Unstarted()} {
		for _, name := range names {
			require.Empty(t, ends[name], "dag 29: %s is in two sets", name)
			ends[name] = end
		}
	}
	require.Len(t, ends, len(r.model.names), "dag 29: every node is in a set")
	require.Equal(t, r.model.String(), r.graph.String(), "dag 11")
	require.ElementsMatch(t, slices.Concat(state.Verified(), state.Unverified(), state.Failed()), r.ran)
	fatal := false
	for _, name := range r.model.names {
		want := r.specified(name, ends, state)
		require.Equal(t, want, ends[name], "%s", name)
		require.Equal(t, want == "unstarted", state.Reason(name) != "", "%s: a reason for what is unstarted", name)
		_, cause, _ := strings.Cut(r.behaviours[name], ":")
		var flag *vectorFlag
		flagged := errors.As(vectorCause(cause, name), &flag)
		fatal = fatal || want == "failed" || want == "unverified" && cause != "" && (!flagged || flag.fatal) ||
			want == "unstarted" && state.Err(name) != nil
	}
	require.Equal(t, fatal, state.HasFailed(), "dag 33")
	require.Equal(t, !slices.Contains(valuesOf(ends), "failed") && !slices.Contains(valuesOf(ends), "unstarted"), state.DeployCompleted(), "dag 31")
	require.Equal(t, len(state.Verified()) == len(ends), state.VerifyCompleted(), "dag 32")
}

func valuesOf(m map[string]string) (values []string) {
	for _, value := range m {
		values = append(values, value)
	}
	return values
}

// specified is how a node has to end when its children ended as they did.
func (r *vectorRun) specified(name string, ends map[string]string, state dag.State) string {
	if r.model.disabled[name] {
		return "unstarted"
	}
	asks := r.input.VerifyUpstream == nil || *r.input.VerifyUpstream
	for _, child := range r.model.children[name] {
		if ends[child] != "verified" {
			return "unstarted"
		}
	}
	for _, child := range r.model.children[name] {
		gate := r.gates[[2]string{name, child}]
		if !asks || gate == nil {
			continue
		}
		if gate.changes() {
			// How often it is asked is checked where time is: what it said last counts.
			if gate.asked > 0 && !gate.answers[min(gate.asked, len(gate.answers))-1] {
				return "unstarted"
			}
			continue
		}
		if gate.err != nil {
			require.ErrorIs(r.t, state.Err(name), gate.err, "dag 18: the error of a predicate is its node's")
			require.Contains(r.t, state.Reason(name), "predicate error on edge to "+child)
		}
		if !gate.opens() {
			return "unstarted"
		}
	}
	switch how, _, _ := strings.Cut(r.behaviours[name], ":"); how {
	case "ok", "none", "return_false":
		require.NoError(r.t, state.Err(name))
		return "verified"
	case "halt_nofail":
		require.Error(r.t, state.Err(name))
		return "unverified"
	}
	require.Error(r.t, state.Err(name), "dag 20: its cause is kept")
	return "failed"
}
