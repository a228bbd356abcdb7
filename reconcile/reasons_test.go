package reconcile

import (
	"context"
	"errors"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// anywhere is a controller that returns an error from one of its places.
type anywhere struct {
	built
	place string
	err   error
}

func (a *anywhere) at(place string) error {
	if a.place == place {
		return a.err
	}
	return nil
}

// verifier is a component whose Verify is a method.
type verifier struct{ *anywhere }

func (v verifier) Deploy(ctx context.Context, _ *Session, c *Component) error {
	return errors.Join(c.Apply(ctx), v.at("Deploy"))
}

func (v verifier) Verify(ctx context.Context, _ *Session, c *Component) error {
	return errors.Join(c.Verify(ctx), v.at("Verify"))
}

func (a *anywhere) controller() Controller {
	a.built = built{func(_ context.Context, _ *Session, c *Component) error {
		c.Add("", configMap("built"))
		return a.at("Build")
	}}
	judging := func(place string) Judge {
		return func(context.Context, *unstructured.Unstructured) error { return a.at(place) }
	}
	return &allHooks{controller{func(_ context.Context, s *Session) error {
		first := s.Use("first", verifier{a})
		s.Add("second").After(first, func(context.Context, *Component) (bool, error) { return true, a.at("a gate") })
		judged := s.Add("judged")
		judged.Add("", configMap("alone"), ReadyWhen(judging("ReadyWhen")))
		judged.Add("", configMap("too"), AndReadyWhen(judging("AndReadyWhen")))
		return a.at("Setup")
	}}, a}
}

// allHooks is a controller with hooks.
type allHooks struct {
	controller
	*anywhere
}

func (h *allHooks) AfterDeploy(context.Context, *Session, Outcome) error { return h.at("AfterDeploy") }
func (h *allHooks) AfterVerify(context.Context, *Session, Outcome) error { return h.at("AfterVerify") }

// The class of an error decides the reasons of the status, wherever the error comes from.
func TestReasonsAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	before := []string{"Setup", "Build", "Deploy", "a gate", "AfterDeploy", "AfterVerify"}
	for _, row := range []struct {
		reason string
		err    error
		places []string
		want   string
	}{
		{"a mistake in the resource", request.Configuration("spec.size: 3 is odd"), append(before, "Verify", "ReadyWhen", "AndReadyWhen"), "ConfigError/Errored"},
		{"a request that the cluster refuses", forbidden("get", "pods"), append(before, "Verify", "ReadyWhen", "AndReadyWhen"), "Stable/ClusterError"},
		{"content that the cluster refuses", &deploy.InvalidError{Ref: configMapRef("c"), Err: errors.New("too long")}, append(before, "Verify", "ReadyWhen", "AndReadyWhen"), "ConfigError/Errored"},
		{"a mistake in the operator", errors.New("weird"), append(before, "Verify", "ReadyWhen", "AndReadyWhen"), "Errored/Errored"},
		{"something is missing", request.Precondition("no node"), before, "Stable/PreconditionWait"},
		{"something isn't ready", request.Precondition("no leader"), []string{"Verify", "ReadyWhen", "AndReadyWhen"}, "InProgress/VerifyWait"},
	} {
		for _, place := range row.places {
			t.Run("status 14: "+row.reason+", in "+place, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				a := &anywhere{}
				r := w.reconciler(a.controller())
				w.calm(r)
				assert.Equal(t, "Stable/Stable", w.verdict())
				a.place, a.err = place, row.err
				_, _, err := w.once(r)
				assert.Equal(t, request.IsWaiting(row.err), err == nil, "%v", err)
				assert.Equal(t, row.want, w.verdict())
				assert.Contains(t, w.message(), row.err.Error())
			})
		}
	}
}
