package tls

import (
	"bytes"
	"context"
	"time"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/pki"
)

// roll is the component that comes after all others that read certificates. It has no objects.
type roll struct{ *Authority }

var _ reconcile.Deployer = roll{}

// Build implements reconcile.Builder.
func (roll) Build(context.Context, *reconcile.Session, *reconcile.Component) error { return nil }

// Deploy implements reconcile.Deployer: when all Secrets are written and the components that read them are ready, it
// stores that in the Secret of the CA, and the wait of the stage begins. A component that isn't ready brings the
// resource to reconcile when it becomes ready.
func (r roll) Deploy(ctx context.Context, s *reconcile.Session, _ *reconcile.Component) error {
	if s.DryRun() || r.issuer == nil {
		return nil
	}
	used, now := *r.issuer, s.Now().UTC().Truncate(time.Second)
	marked, changed := used.MarkSpread(now)
	if !changed {
		return nil
	}
	for _, c := range r.readers {
		if ready, err := reconcile.Ready(ctx, c); err != nil || !ready {
			return err
		}
	}
	err := r.change(ctx, func(a pki.Authority, _ *stored) (pki.Authority, map[string]string, error) {
		if a.Stage() != used.Stage() || !bytes.Equal(a.Bundle(), used.Bundle()) {
			return a, nil, nil // somebody else has taken the next step
		}
		return a, map[string]string{annotationSpread: now.Format(time.RFC3339), annotationBegan: ""}, nil
	})
	if err == nil {
		s.RequeueWithin(max(marked.Until(r.options.times).Sub(s.Now()), time.Second))
	}
	return err
}
