package tls

import (
	"context"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/pki"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// bootstrap is the component with a CA of the resource's own, made by cert-manager.
type bootstrap struct{ *Requester }

var _ reconcile.Deployer = bootstrap{}

// Build implements reconcile.Builder. The CA keeps its key when it is renewed: certificates that it has issued before
// are valid for programs that trust the renewed CA, and the other way round, so that its renewal breaks nothing.
func (b bootstrap) Build(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	if err := b.check(); err != nil {
		return err
	}
	for _, kind := range []schema.GroupVersionKind{certificateKind, issuerKind} {
		if err := s.Own(ctx, kind); err != nil {
			return installed(err)
		}
	}
	selfSigned := s.ScopedName("cert-self-signed")
	judged := reconcile.ReadyWhen(b.judge)
	c.Add("self-signed", object(issuerKind, selfSigned, map[string]any{"selfSigned": map[string]any{}}), judged)
	c.Add("ca", object(certificateKind, b.authority(), map[string]any{
		"isCA": true, "secretName": b.authority(), "commonName": s.TruncatedName(s.Name() + "-ca"),
		"duration":   b.options.times.Life.String(),
		"usages":     []any{"cert sign", "digital signature"},
		"privateKey": privateKey("Never"),
		"issuerRef":  map[string]any{"group": issuerKind.Group, "kind": issuerKind.Kind, "name": selfSigned},
	}), judged)
	c.Add("issuer", object(issuerKind, b.authority(), map[string]any{"ca": map[string]any{"secretName": b.authority()}}), judged)
	return nil
}

// Deploy implements reconcile.Deployer.
func (b bootstrap) Deploy(ctx context.Context, _ *reconcile.Session, c *reconcile.Component) error {
	return installed(c.Apply(ctx))
}

// authority returns the name of the CA of the resource's own: of its Certificate, its Secret and its Issuer.
func (r *Requester) authority() string { return r.session.ScopedName("cert-ca") }

// findAuthority reads that CA.
func (r *Requester) findAuthority(ctx context.Context) error {
	found, err := r.followSecret(ctx, r.authority())
	if err != nil || found == nil {
		return err
	}
	if _, err := pki.ParseCertificates(found.data[pki.KeyCert]); err == nil {
		r.trust.add(found.data[pki.KeyCert])
		r.trust.found = true
	}
	return nil
}

// privateKey describes the private keys. With the policy Always each certificate has a key of its own.
func privateKey(rotation string) map[string]any {
	return map[string]any{"algorithm": "ECDSA", "size": int64(256), "encoding": "PKCS8", "rotationPolicy": rotation}
}

func object(kind schema.GroupVersionKind, name string, spec map[string]any) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	obj.SetGroupVersionKind(kind)
	obj.SetName(name)
	return obj
}
