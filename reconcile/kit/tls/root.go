package tls

import (
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/pki"
	"github.com/operkit/operkit/reconcile/request"
)

// The reasons of events.
const (
	// EventReplaced: a certificate that somebody else had stored was replaced, because it wasn't valid or
	// its CA is being replaced.
	EventReplaced = "CertificateReplaced"
	// EventForeign: a certificate that somebody else has stored is kept, but no CA of the bundle issued it.
	EventForeign = "ForeignCertificate"
	// EventStage: the replacement of the CA has reached its next stage.
	EventStage = "CAReplacement"
	// EventWaits: components with certificates haven't been ready for long, and a stage waits for them.
	EventWaits = "CAReplacementWaits"
	// EventForced: a stage has ended without its wait, because a CA is near the end of its life.
	EventForced = "CAReplacementForced"
)

// root is the component with the CA.
type root struct{ *Authority }

var _ reconcile.Deployer = root{}

// Build implements reconcile.Builder. The Secret is never overwritten by an apply: of two processes that create it,
// one loses, and uses the CA of the other one.
func (r root) Build(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	if err := r.check(); err != nil {
		return err
	}
	found, err := read(ctx, s, r.secret())
	if err != nil {
		return err
	}
	data := placeholders(pki.KeyCert, pki.KeyKey, pki.KeyBundle)
	switch {
	case found != nil && !(s.DryRun() && found.placeholder()):
		if _, err := r.parse(found); err != nil {
			return err
		}
		data = found.data
	case !s.DryRun():
		ca, err := pki.NewCA(s.Now(), r.commonName(), r.options.times.Life)
		if err != nil {
			return fmt.Errorf("new CA: %w", err)
		}
		data = pki.Authority{Current: ca}.Data()
	}
	c.Add("ca", encode(r.secret(), data, nil, ""), reconcile.By(deploy.CreateOnly))
	return nil
}

// Deploy implements reconcile.Deployer: it takes the steps of the replacement of the CA that are due. There is more
// than one only if a CA has expired: two to end a replacement, and three to replace a new CA that has expired, too.
func (r root) Deploy(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	if err := c.Apply(ctx); err != nil || s.DryRun() {
		return err
	}
	for range 5 {
		if stepped, err := r.step(ctx); err != nil || !stepped {
			return err
		}
	}
	return nil
}

// authority reads the CA; nil if there is none, or only that of a dry run.
func (a *Authority) authority(ctx context.Context) (*pki.Authority, error) {
	found, err := read(ctx, a.session, a.secret())
	if err != nil || found == nil || a.session.DryRun() && found.placeholder() {
		return nil, err
	}
	parsed, err := a.parse(found)
	return &parsed, err
}

// parse returns the CA of a Secret.
func (a *Authority) parse(found *stored) (pki.Authority, error) {
	parsed, err := pki.ParseAuthority(found.data)
	if err != nil {
		return parsed, request.Configuration("Secret %s: the CA is damaged, and isn't replaced, because programs trust it: %w: "+
			"restore the Secret, or delete it for a new CA", a.secret(), err)
	}
	if text := found.annotation(annotationSpread); text != "" {
		if parsed.Spread, err = time.Parse(time.RFC3339, text); err != nil {
			parsed.Spread = time.Time{} // it is marked again
		}
	}
	return parsed, nil
}
