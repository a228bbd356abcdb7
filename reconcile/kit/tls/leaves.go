package tls

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/internal/pki"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// leaves is the component with the certificates and the bundle.
type leaves struct{ *Authority }

// Build implements reconcile.Builder.
func (l leaves) Build(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	authority, err := l.authority(ctx)
	if err != nil {
		return err
	}
	l.issuer = authority
	if authority == nil && !s.DryRun() {
		return fmt.Errorf("Secret %s: the CA is absent", l.secret()) // it was deleted a moment ago
	}
	c.Add("", l.bundle(authority)) // the other objects have the names of certificates
	var errs []error
	for _, cert := range l.asked.certs {
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

// bundle returns the ConfigMap with the CAs to trust.
func (l leaves) bundle(authority *pki.Authority) *unstructured.Unstructured {
	content, marks := reconcile.GeneratedPlaceholder, map[string]string{}
	if authority != nil {
		content, marks[annotationDigest] = string(authority.Bundle()), authority.Digest(nil)
	}
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{pki.KeyBundle: content},
		"metadata": map[string]any{"name": l.Bundle()},
	}}
	mark(obj, marks, l.session.Manager().KeyDomain())
	return obj
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
		verdict.ByHand = false
		marks[annotationIssued], marks[annotationRenewed] = pki.Fingerprint(pair.Cert), found.annotation(annotationRenew)
		s.RequeueWithin(pki.Due(pair.Cert).Sub(s.Now()))
	}
	chain, counts := authority.Chain(pair), pair.Cert.Raw
	if verdict.ByHand { // it stays with its own chain
		chain, counts = pair.CertPEM, pair.CertPEM
	}
	cert.ca, cert.digest = authority.Bundle(), authority.Digest(counts)
	marks[annotationDigest] = cert.digest
	return encode(cert.secret, map[string][]byte{pki.KeyCert: chain, pki.KeyKey: pair.KeyPEM, pki.KeyBundle: cert.ca}, marks, domain), nil
}

// reportForeign records an event about a certificate of another CA, once for each certificate.
func (l leaves) reportForeign(cert *Certificate, found *stored, fingerprint, issuer string) {
	if found.annotation(annotationForeign) != fingerprint {
		l.session.Event(event.Warning, EventForeign, "Secret %s: the certificate was stored by hand and is kept, but its CA isn't in ca.crt, "+
			"so that peers may refuse it: %s: delete the Secret to get a certificate of the CA of the resource", cert.secret, issuer)
	}
}
