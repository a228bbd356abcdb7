package tls

import (
	"context"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/kit/tls/internal/pki"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The reasons of events.
const (
	// EventReplaced: a certificate that somebody else had stored was replaced, because it wasn't valid.
	EventReplaced = "CertificateReplaced"
	// EventForeign: a certificate that somebody else has stored is kept, but no CA of the bundle issued it.
	EventForeign = "ForeignCertificate"
	// EventStage: the replacement of the CA has reached its next stage.
	EventStage = "CAReplacement"
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

// Deploy implements reconcile.Deployer: it takes the next step of the replacement of the CA if that is due.
func (r root) Deploy(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	if err := c.Apply(ctx); err != nil || s.DryRun() {
		return err
	}
	now := s.Now()
	stage := pki.Stage("")
	err := r.change(ctx, func(a pki.Authority, found *stored) (pki.Authority, map[string]string, error) {
		next, changed, err := a.Advance(now, r.commonName(), found.asked(), r.options.times)
		if stage = ""; err != nil || !changed {
			return a, nil, err
		}
		marks := map[string]string{annotationSpread: ""}
		if stage = next.Stage(); stage == pki.Trusting {
			marks[annotationRenewed] = found.annotation(annotationRenew)
		}
		return next, marks, nil
	})
	if err == nil && stage != "" {
		s.Event(event.Normal, EventStage, "Secret %s: the replacement of the CA has reached the stage %s", r.secret(), stage)
	}
	return err
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

// change computes the next state of the CA from the present one and writes it, unless the annotations are nil. The
// write is refused, and computed again, if somebody else was faster.
func (a *Authority) change(ctx context.Context, compute func(pki.Authority, *stored) (pki.Authority, map[string]string, error)) error {
	s := a.session
	ref := deploy.Ref{Kind: secretKind, Namespace: s.Manager().Namespace(), Name: a.secret()}
	domain := s.Manager().KeyDomain()
	_, err := s.Manager().Change(ctx, ref, func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		found, err := decode(current, domain)
		if err != nil {
			return nil, err
		}
		present, err := a.parse(found)
		if err != nil {
			return nil, err
		}
		next, marks, err := compute(present, found)
		if err != nil || marks == nil {
			return nil, err
		}
		changed := current.DeepCopy()
		data := map[string]any{}
		for key, value := range next.Data() {
			data[key] = base64.StdEncoding.EncodeToString(value)
		}
		changed.Object["data"] = data
		annotations := changed.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		for name, value := range marks {
			if annotations[domain+"/"+name] = value; value == "" {
				delete(annotations, domain+"/"+name)
			}
		}
		changed.SetAnnotations(annotations)
		return changed, nil
	})
	return err
}
