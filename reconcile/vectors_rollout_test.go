package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/require"
)

// rolloutCase is one recorded rollout. A behaviour is true, false, or the name of an exception.
type rolloutCase struct {
	Input struct {
		Components map[string]behaviour
		Edges      [][]any
		Hooks      map[string]any
	}
	Output struct {
		Verified, Unverified, Failed, Unstarted []string
		VerifyCompleted                         bool     `json:"verify_completed"`
		IsFailed                                bool     `json:"is_failed"`
		Trace                                   []string `json:"trace_sorted"`
	}
}

type behaviour struct {
	Build, Deploy, Verify, Disable any
	Disabled                       bool
}

// answer is the error for a behaviour: of false too, which means a failure or waiting.
func answer(does any, whenFalse error, text string) error {
	switch does {
	case nil, true:
		return nil
	case false:
		return whenFalse
	case "PreconditionError":
		return request.Precondition("%s", text)
	case "VerificationError", "Oper8ExpectedError", "ExpectedError":
		return &request.Error{Class: status.ErrorVerification, Err: errors.New(text)}
	case "ConfigError":
		return request.Configuration("%s", text)
	case "ClusterError":
		return &deploy.UnavailableError{Err: errors.New(text)}
	case "RolloutError":
		return &request.Error{Class: status.ErrorRollout, Err: errors.New(text)}
	}
	return errors.New(text)
}

var (
	errFalse = errors.New("false")
	notReady = &request.Error{Class: status.ErrorVerification, Err: errors.New("not ready")}
)

// trace is what was called, by several at once.
type trace struct {
	mu    sync.Mutex
	steps []string
}

func (t *trace) add(step string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steps = append(t.steps, step)
}

// recorded is a component that behaves as a case says.
type recorded struct {
	name  string
	does  behaviour
	trace *trace
}

func (r *recorded) step(step string, does any, whenFalse error) error {
	if step != "build" || does != nil {
		r.trace.add(step + ":" + r.name)
	}
	return answer(does, whenFalse, step+"-"+r.name)
}

func (r *recorded) Build(context.Context, *Session, *Component) error {
	return r.step("build", r.does.Build, errFalse)
}

func (r *recorded) Deploy(context.Context, *Session, *Component) error {
	return r.step("deploy", r.does.Deploy, errFalse)
}

func (r *recorded) Verify(context.Context, *Session, *Component) error {
	return r.step("verify", r.does.Verify, notReady)
}

func (r *recorded) Disable(context.Context, *Session, *Component) error {
	return r.step("disable", r.does.Disable, errFalse)
}

// recordedHooks are the hooks of a case; one that it doesn't name isn't traced and does nothing.
type recordedHooks struct {
	controller
	does  map[string]any
	trace *trace
}

func (h *recordedHooks) hook(name string) error {
	does, there := h.does[name]
	if !there {
		return nil
	}
	h.trace.add("hook:" + name)
	return answer(does, notReady, "hook-"+name)
}

func (h *recordedHooks) AfterDeploy(context.Context, *Session, Outcome) error {
	return h.hook("after_deploy")
}

func (h *recordedHooks) AfterVerify(context.Context, *Session, Outcome) error {
	return h.hook("after_verify")
}

func (h *recordedHooks) AfterIncomplete(_ context.Context, _ *Session, o Outcome) error {
	if o.Deployed() {
		return h.hook("after_verify_unsuccessful")
	}
	return h.hook("after_deploy_unsuccessful")
}

func runRollout(t *testing.T, v *vector) {
	var c rolloutCase
	require.NoError(t, json.Unmarshal(v.raw, &c))
	w, did := newWorld(t), &trace{}
	r := w.reconciler(&recordedHooks{does: c.Input.Hooks, trace: did})
	s := must(r.session(t.Context(), w.widget(), 0))
	c.setup(s, did)
	outcome, err := s.rollout(t.Context())
	require.NoError(t, err)

	want := c.specified(v)
	require.Equal(t, want.Output.Verified, of(outcome, Verified, Disabled), "verified, as which oper8 counts disabled ones")
	require.Equal(t, want.Output.Unverified, of(outcome, Unverified), "unverified")
	require.Equal(t, want.Output.Failed, of(outcome, Failed), "failed")
	require.Equal(t, want.Output.Unstarted, of(outcome, Unstarted), "unstarted")
	require.Equal(t, want.Output.VerifyCompleted, outcome.Complete(), "complete")
	require.Equal(t, want.Output.IsFailed, outcome.Err() != nil && !request.IsWaiting(outcome.Err()), "failed: %v", outcome.Err())
	require.Equal(t, append([]string{}, want.Output.Trace...), append([]string{}, slices.Sorted(slices.Values(did.steps))...), "calls")
}

func (c *rolloutCase) setup(s *Session, did *trace) {
	components := map[string]*Component{}
	for _, name := range slices.Sorted(maps.Keys(c.Input.Components)) {
		does := c.Input.Components[name]
		components[name] = s.Use(name, &recorded{name, does, did})
		if does.Disabled {
			components[name].Disable()
		}
	}
	for _, edge := range c.Input.Edges {
		var gates []Gate
		if len(edge) > 2 {
			gates = append(gates, func(context.Context, *Component) (bool, error) {
				err := answer(edge[2], errFalse, fmt.Sprint("edge-", edge[0]))
				if errors.Is(err, errFalse) {
					return false, nil
				}
				return err == nil, err
			})
		}
		components[edge[0].(string)].After(components[edge[1].(string)], gates...)
	}
}

func of(o Outcome, states ...State) []string {
	names := []string{}
	for name, c := range o.Components {
		if slices.Contains(states, c.State) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// specified is what the specification says instead of what was recorded, with the reasons.
func (c rolloutCase) specified(v *vector) rolloutCase {
	out := &c.Output
	c.disabledOnce(v)
	failed := slices.Clone(out.Failed)
	for _, name := range slices.Sorted(maps.Keys(c.Input.Components)) {
		does := c.Input.Components[name]
		if does.Disabled || slices.Contains(out.Unstarted, name) {
			continue
		}
		before := errors.Join(answer(does.Build, errFalse, ""), answer(does.Deploy, errFalse, ""))
		switch {
		case before != nil && request.IsWaiting(before):
			// It waits: it isn't deployed, and nothing of it can be verified.
			if c.move(name, &out.Unverified) || c.untrace("verify:"+name) {
				c.untrace("verify:" + name)
				v.because("reconcile mistake 2")
			}
		case before == nil && len(failed) > 0 && !slices.Contains(out.Trace, "verify:"+name):
			// What others do to fail doesn't keep it from getting ready.
			c.trace("verify:" + name)
			v.because("dag 24: independent components go on")
			switch verdict := answer(does.Verify, notReady, ""); {
			case verdict == nil:
				c.move(name, &out.Verified)
			case request.IsWaiting(verdict):
				c.move(name, &out.Unverified)
			default:
				c.move(name, &out.Failed)
			}
		}
	}
	return c
}

// disabledOnce: what is disabled is taken away once, and then is as it should be.
func (c *rolloutCase) disabledOnce(v *vector) {
	for name, does := range c.Input.Components {
		if !does.Disabled {
			continue
		}
		step, seen := "disable:"+name, 0
		for _, other := range c.Output.Trace {
			if other == step {
				seen++
			}
		}
		if seen > 1 {
			c.untrace(step)
			c.trace(step)
			v.because("reconcile mistake 1")
		}
	}
}

func (c *rolloutCase) trace(step string) {
	c.Output.Trace = slices.Sorted(slices.Values(append(c.Output.Trace, step)))
}

func (c *rolloutCase) untrace(step string) bool {
	before := len(c.Output.Trace)
	c.Output.Trace = slices.DeleteFunc(c.Output.Trace, func(other string) bool { return other == step })
	return len(c.Output.Trace) < before
}

// move puts a component into one of the sets, and reports whether it was in another.
func (c *rolloutCase) move(name string, to *[]string) bool {
	out := &c.Output
	if slices.Contains(*to, name) {
		return false
	}
	for _, set := range []*[]string{&out.Verified, &out.Unverified, &out.Failed, &out.Unstarted} {
		*set = slices.DeleteFunc(*set, func(other string) bool { return other == name })
	}
	*to = slices.Sorted(slices.Values(append(*to, name)))
	return true
}
