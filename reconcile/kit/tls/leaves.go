package tls

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/kit/tls/internal/pki"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// leaves is the component with the certificates and the bundle.
type leaves struct{ *Authority }

var _ reconcile.Deployer = leaves{}

// Build implements reconcile.Builder.
func (l leaves) Build(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	authority, err := l.authority(ctx)
	if err != nil {
		return err
	}
	l.issuer = authority
	bundle := []byte(reconcile.GeneratedPlaceholder)
	switch {
	case authority != nil:
		bundle = authority.Bundle()
	case !s.DryRun():
		return fmt.Errorf("Secret %s: the CA is absent", l.secret()) // it was deleted a moment ago
	}
	c.Add("bundle", map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": l.Bundle()}, "data": map[string]any{pki.KeyBundle: string(bundle)}})
	var errs []error
	for _, cert := range l.certs {
		if cert.component.Disabled() {
			continue
		}
		obj, err := l.leaf(ctx, cert, authority)
		if err != nil {
			errs = append(errs, fmt.Errorf("certificate %s: %w", cert.name, err))
			continue
		}
		c.Add(cert.name, obj, reconcile.By(deploy.Recreate))
	}
	return errors.Join(errs...)
}

// leaf returns the Secret of a certificate: with the stored one if it is kept, otherwise with a new one.
func (l leaves) leaf(ctx context.Context, cert *Certificate, authority *pki.Authority) (*unstructured.Unstructured, error) {
	s := l.session
	names, err := pki.ParseNames(cert.names)
	if err != nil {
		return nil, request.Configuration("%w", err)
	}
	found, err := read(ctx, s, cert.secret)
	if err != nil {
		return nil, err
	}
	marks := map[string]string{
		annotationIssued: found.annotation(annotationIssued), annotationRenewed: found.annotation(annotationRenewed),
	}
	domain := s.Manager().KeyDomain()
	if authority == nil {
		return encode(cert.secret, placeholders(pki.KeyCert, pki.KeyKey, pki.KeyBundle), marks, domain), nil
	}
	want := pki.Want{CommonName: s.ScopedName(cert.name), Names: names, Life: l.options.times.Leaf}
	kept := pki.Stored{Issued: marks[annotationIssued]}
	if found != nil {
		kept.CertPEM, kept.KeyPEM = found.data[pki.KeyCert], found.data[pki.KeyKey]
	}
	verdict := pki.Judge(s.Now(), kept, want, authority.Current, authority.Trusted())
	pair := verdict.Pair
	switch {
	case verdict.Reason == "" && !found.asked():
		s.RequeueWithin(verdict.Until.Sub(s.Now()))
		if verdict.Foreign != "" {
			marks[annotationForeign] = pki.Fingerprint(pair.Cert)
			l.reportForeign(cert, found, marks[annotationForeign], verdict.Foreign)
		}
	case s.DryRun():
		return encode(cert.secret, placeholders(pki.KeyCert, pki.KeyKey, pki.KeyBundle), marks, domain), nil
	default:
		if pair, err = pki.Issue(authority.Current, want, s.Now()); err != nil {
			return nil, err
		}
		if verdict.ByHand && verdict.Reason != "" {
			s.Event(event.Warning, EventReplaced, "Secret %s: replaced the certificate that the operator didn't issue: %s", cert.secret, verdict.Reason)
		}
		marks[annotationIssued], marks[annotationRenewed] = pki.Fingerprint(pair.Cert), found.annotation(annotationRenew)
		s.RequeueWithin(pki.Due(pair.Cert).Sub(s.Now()))
	}
	cert.ca = authority.Bundle()
	cert.digest = digest(pair.CertPEM, cert.ca)
	return encode(cert.secret, map[string][]byte{pki.KeyCert: pair.CertPEM, pki.KeyKey: pair.KeyPEM, pki.KeyBundle: cert.ca}, marks, domain), nil
}

// reportForeign records an event about a certificate of another CA, once for each certificate.
func (l leaves) reportForeign(cert *Certificate, found *stored, fingerprint, issuer string) {
	if found.annotation(annotationForeign) != fingerprint {
		l.session.Event(event.Warning, EventForeign, "Secret %s: the certificate was stored by hand and is kept, but its CA isn't in ca.crt, "+
			"so that peers may refuse it: %s: delete the Secret to get a certificate of the CA of the resource", cert.secret, issuer)
	}
}

// digest identifies the parts of a Secret that are no secret.
func digest(parts ...[]byte) string {
	sum := sha256.Sum256(bytes.Join(parts, []byte{0}))
	return hex.EncodeToString(sum[:16])
}

// Deploy implements reconcile.Deployer: when all Secrets are written, it stores that in the Secret of the CA, and the
// wait of the stage begins.
func (l leaves) Deploy(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	if err := c.Apply(ctx); err != nil || s.DryRun() || l.issuer == nil {
		return err
	}
	used := *l.issuer
	now := s.Now().UTC().Truncate(time.Second)
	if marked, changed := used.MarkSpread(now); changed {
		if err := l.change(ctx, func(a pki.Authority, _ *stored) (pki.Authority, map[string]string, error) {
			if a.Stage() != used.Stage() || !bytes.Equal(a.Bundle(), used.Bundle()) {
				return a, nil, nil // somebody else has taken the next step
			}
			return a, map[string]string{annotationSpread: now.Format(time.RFC3339)}, nil
		}); err != nil {
			return err
		}
		used = marked
	}
	if until := used.Until(l.options.times); !until.IsZero() {
		s.RequeueWithin(max(until.Sub(s.Now()), time.Second))
	}
	return nil
}
