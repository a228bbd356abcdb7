package tls

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/pki"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// requests is the component with the Certificates.
type requests struct{ *Requester }

var _ reconcile.Deployer = requests{}

// Build implements reconcile.Builder. It also reads what cert-manager has issued, for the gates of the components that
// wait, and for the bundle.
func (q requests) Build(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	if err := q.check(); err != nil {
		return err
	}
	if err := s.Own(ctx, certificateKind); err != nil {
		return installed(err)
	}
	q.trust = trust{}
	var errs []error
	for _, o := range q.orders {
		if o.component.Disabled() {
			continue
		}
		names, err := pki.ParseNames(o.names)
		if err == nil {
			c.Add(o.name, q.certificate(o, names), reconcile.ReadyWhen(q.judgeOrder(o)))
			err = q.inspect(ctx, o, names)
		} else {
			err = request.Configuration("%w", err)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("certificate %s: %w", o.name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := q.findTrust(ctx); err != nil {
		return err
	}
	for _, o := range q.orders {
		if o.digest != "" {
			o.ca = q.trust.bundle
			o.digest = digest([]byte(o.digest), o.ca)
		}
	}
	return nil
}

// Deploy implements reconcile.Deployer.
func (q requests) Deploy(ctx context.Context, _ *reconcile.Session, c *reconcile.Component) error {
	return installed(c.Apply(ctx))
}

// certificate returns the Certificate of cert-manager. Without renewBefore it is renewed when two thirds of the life
// have passed that the issuer has granted. A common name is set only for clients, whose certificates have no other
// name; it is shorter than 64 characters.
func (q requests) certificate(o *order, names pki.Names) *unstructured.Unstructured {
	spec := map[string]any{
		"secretName": o.secret,
		"duration":   q.options.times.Leaf.String(),
		"usages":     []any{"digital signature", "server auth", "client auth"},
		"privateKey": privateKey("Always"),
		"issuerRef":  q.issuer(),
	}
	if len(names.Hosts) > 0 {
		spec["dnsNames"] = list(names.Hosts)
	}
	if len(names.IPs) > 0 {
		spec["ipAddresses"] = list(names.IPs)
	}
	if len(o.names) == 0 {
		spec["commonName"] = q.session.ScopedName(o.name)
	}
	return object(certificateKind, o.secret, spec)
}

// issuer returns the reference to the issuer of all certificates.
func (q requests) issuer() map[string]any {
	if by := q.options.issuer; by != nil {
		return map[string]any{"group": by.kind.Group, "kind": by.kind.Kind, "name": by.name}
	}
	return map[string]any{"group": issuerKind.Group, "kind": issuerKind.Kind, "name": q.authority()}
}

// list returns the texts of values, as they stand in an unstructured object.
func list[T any](values []T) []any {
	texts := make([]any, len(values))
	for i, value := range values {
		texts[i] = fmt.Sprint(value)
	}
	return texts
}

// judgeOrder judges a Certificate, and then its Secret.
func (q requests) judgeOrder(o *order) reconcile.Judge {
	return func(ctx context.Context, live *unstructured.Unstructured) error {
		if err := q.judge(ctx, live); err != nil {
			return err
		}
		return o.lacking
	}
}

// inspect reads the Secret of a certificate. What can't be used is waited for: cert-manager repairs it.
func (q requests) inspect(ctx context.Context, o *order, names pki.Names) error {
	found, err := q.followSecret(ctx, o.secret)
	if err != nil {
		return err
	}
	if found == nil {
		o.lacking = request.Precondition("Secret %s isn't there yet", o.secret)
		return nil
	}
	if len(found.data[pki.KeyBundle]) > 0 {
		if _, err := pki.ParseCertificates(found.data[pki.KeyBundle]); err != nil {
			o.lacking = request.Precondition("Secret %s: %s: %w", o.secret, pki.KeyBundle, err)
			return nil
		}
		q.trust.add(found.data[pki.KeyBundle])
	}
	pair, err := pki.ParsePair(found.data[pki.KeyCert], found.data[pki.KeyKey])
	if err != nil {
		o.lacking = request.Precondition("Secret %s: %w", o.secret, err)
		return nil
	}
	if reason := pki.Uncovered(pair.Cert, names); reason != "" {
		o.lacking = request.Precondition("Secret %s has another certificate: %s", o.secret, reason)
		return nil
	}
	o.lacking, q.trust.found = nil, true
	q.trust.unnamed = q.trust.unnamed || len(found.data[pki.KeyBundle]) == 0
	o.digest = digest(pair.CertPEM)
	return nil
}

// digest identifies the parts of a Secret that are no secret.
func digest(parts ...[]byte) string {
	sum := sha256.Sum256(bytes.Join(parts, []byte{0}))
	return hex.EncodeToString(sum[:16])
}
