package child

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"sync"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"github.com/operkit/operkit/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// setup calls Setup of the controller for a resource and returns the components.
func (s *server) setup(ctx context.Context, b wire.Session) (*wire.Described, error) {
	r, err := s.kind(b.Kind)
	if err != nil {
		return nil, err
	}
	logger := slog.New(s.greeted.Load().lines.of(b.ID, slog.Level(b.Level)))
	description, err := r.reconciler.Describe(withSession(ctx, b.ID), &unstructured.Unstructured{Object: b.Resource}, reconcile.Describing{
		ID: b.ID, Version: b.Version, DryRun: b.DryRun, Logger: logger, Events: events{s.peer, b.ID},
		Status: statusOf{s.peer, b.ID},
	})
	if description == nil {
		return nil, err
	}
	one := &session{ruled: r, Description: description, rendered: map[string][]reconcile.Rendered{}}
	s.sessions.add(b.ID, one)
	if ctx.Err() != nil {
		// The manager has cancelled the call, and may have sent release before the session was added.
		s.sessions.release(b.ID)
		return nil, context.Cause(ctx)
	}
	if err == nil {
		err = one.refuse()
	}
	if err != nil {
		return nil, err
	}
	return s.described(withSession(ctx, b.ID), one), nil
}

// described returns the components of a session.
func (s *server) described(ctx context.Context, one *session) *wire.Described {
	described := &wire.Described{Instance: s.instance}
	var kinds kindList
	for _, c := range one.Session().Components() {
		described.Components = append(described.Components, s.component(ctx, one, c, &kinds))
	}
	described.Kinds = kinds
	return described
}

// finalize calls Finalize for a resource, and returns the components that it added.
func (s *server) finalize(ctx context.Context, id string, one *session) (answer wire.HookAnswer, err error) {
	ctx = withSession(ctx, id)
	if err := one.Finalize(ctx); err != nil {
		return answer, err
	}
	if len(one.Session().Components()) == 0 {
		return answer, nil
	}
	if err := one.refuse(); err != nil {
		return answer, err
	}
	answer.Described = s.described(ctx, one)
	return answer, nil
}

// refuse returns an error if a component of the session does more than render.
func (one *session) refuse() error {
	for _, c := range one.Session().Components() {
		builder := one.Builder(c)
		method := ""
		switch builder.(type) {
		case reconcile.Deployer:
			method = "Deploy"
		case reconcile.Verifier:
			method = "Verify"
		case reconcile.Disabler:
			method = "Disable"
		default:
			continue
		}
		return &request.Error{Class: status.ErrorRollout, Err: fmt.Errorf("component %s: %T has a method %s, but this version runs as a child, which renders only: "+
			"let the rollout do it, or use ReadyWhen, gates and hooks", c.Name(), builder, method)}
	}
	return nil
}

// component converts one component for sending, with its objects unless a Builder adds them later.
func (s *server) component(ctx context.Context, one *session, c *reconcile.Component, kinds *kindList) wire.Component {
	sent := wire.Component{Name: c.Name(), Disabled: c.Disabled(), Built: one.Builder(c) != nil}
	for _, dependency := range one.Dependencies(c) {
		edge := wire.Edge{Upstream: dependency.Upstream.Name()}
		for _, gate := range dependency.Gates {
			switch {
			case isGate(gate, reconcile.Ready):
				edge.Ready = true
			case !isGate(gate, reconcile.Deployed):
				edge.OtherGates = true
			}
		}
		sent.After = append(sent.After, edge)
	}
	if !sent.Built {
		var err error
		sent.Objects, err = s.objects(ctx, one, c, kinds)
		sent.Problem = wire.NewProblem(err)
	}
	return sent
}

// isGate reports whether two gates are one function.
func isGate(a, b reconcile.Gate) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// sessions are the sessions that the manager has begun and not released.
type sessions struct {
	mu   sync.Mutex
	open map[string]*session
	// releasing are the sessions that are being released.
	releasing sync.WaitGroup
}

// session is one session.
type session struct {
	*ruled
	*reconcile.Description

	mu sync.Mutex
	// rendered are the objects of components, by the names of the components.
	rendered map[string][]reconcile.Rendered
}

func (s *sessions) add(id string, one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[string]*session{}
	}
	s.open[id] = one
}

func (s *sessions) of(id string) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one, ok := s.open[id]; ok {
		return one, nil
	}
	return nil, fmt.Errorf("session %s: not found: it was released, or never set up", id)
}

// release ends a session. It doesn't wait for the Release of its controller.
func (s *sessions) release(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.open[id]; one != nil {
		delete(s.open, id)
		s.releasing.Go(one.Release)
	}
}

// releaseAll ends all sessions, and returns when they have ended.
func (s *sessions) releaseAll() {
	s.mu.Lock()
	for _, one := range s.open {
		s.releasing.Go(one.Release)
	}
	s.open = nil
	s.mu.Unlock()
	s.releasing.Wait()
}
