package tls

import (
	"context"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status/readiness"
	"github.com/operkit/operkit/status/readiness/known"
)

// ComponentBundle is the component that CertManager adds for the CAs to trust.
const ComponentBundle = "tls-bundle"

// Requester is a Source whose certificates cert-manager issues, see CertManager.
type Requester struct {
	session  *reconcile.Session
	options  options
	checker  readiness.Checker
	requests *reconcile.Component
	bundle   *reconcile.Component
	asked    asked
	orders   []*order
	// trust is what the component tls has found out about the CAs.
	trust trust
}

var _ Source = (*Requester)(nil)

// order is a certificate that cert-manager is asked for.
type order struct {
	*Certificate
	// lacking is why the Secret can't be used yet, as the component tls has found it; nil if it can be used.
	lacking error
}

// CertManager returns a Source for clusters with cert-manager. It adds the component tls, with a Certificate
// <resource>-<component>-cert for each certificate, for which cert-manager makes a Secret of the same name, and the
// component tls-bundle, with the ConfigMap <resource>-cert-bundle, whose ca.crt has the CAs to trust. Without the
// option Issuer it also adds the component tls-ca, with a CA of the resource's own: an Issuer that is self-signed, a
// Certificate with isCA, and an Issuer with that CA. Call it once in Setup. A cluster-scoped resource needs a manager
// with a default namespace.
//
// A component that has asked for a certificate waits until its Certificate is Ready by the condition that cert-manager
// sets, and until the Secret has a certificate for all names. That holds with any option reconcile.ReadyBy, and without
// it. If a request has failed or was denied, the component tls fails with the reason.
//
// Secrets belong to cert-manager, which renews them when two thirds of their life have passed, and by default leaves
// them in the namespace when their Certificate is deleted.
//
// ca.crt of a Secret has the CA that issued this certificate, and cert-manager doesn't issue the certificates anew when
// the CA of an Issuer is replaced. Programs that are to accept their peers meanwhile trust what Bundle has: all CAs
// that were found, until they expire.
func CertManager(s *reconcile.Session, opts ...Option) *Requester {
	r := &Requester{session: s, options: newOptions(opts), checker: readiness.Checker{Registry: known.Kinds()}}
	r.requests = s.Use(ComponentLeaves, requests{r})
	if r.options.issuer == nil {
		r.requests.After(s.Use(ComponentCA, bootstrap{r}))
	}
	r.bundle = s.Use(ComponentBundle, bundle{r}).After(r.requests, func(context.Context, *reconcile.Component) (bool, error) {
		return r.trust.found, nil
	})
	return r
}

// Certificate implements Source.
func (r *Requester) Certificate(c *reconcile.Component, names ...string) *Certificate {
	return r.Named(c, nameOf(c), names...)
}

// Named implements Source.
func (r *Requester) Named(c *reconcile.Component, name string, names ...string) *Certificate {
	cert := r.asked.add(c, name, r.session.ScopedName(name+"-cert"), names)
	if c == nil {
		return cert
	}
	o := &order{Certificate: cert, lacking: request.Precondition("Secret %s wasn't read yet", cert.secret)}
	if !c.Disabled() {
		c.After(r.requests, r.issued(o)).After(r.bundle)
	}
	r.orders = append(r.orders, o)
	return cert
}

// issued returns the gate of a component that has asked for a certificate. Only its own certificate counts.
func (r *Requester) issued(o *order) reconcile.Gate {
	return func(ctx context.Context, _ *reconcile.Component) (bool, error) {
		live, err := r.session.Get(ctx, r.ref(certificateKind, o.secret))
		return err == nil && o.lacking == nil && r.ready(live) == nil, err
	}
}

// Bundle returns the name of the ConfigMap with the CAs to trust, under the key ca.crt. The readers wait for it; a
// disabled reader, or a nil one, is ignored. With the option TrustBundle it is the name of that Bundle, and the key is
// the one that the Bundle names for its target. With an issuer that doesn't name its CA there is no ConfigMap: trust
// the CAs of the system, or use TrustBundle.
func (r *Requester) Bundle(readers ...*reconcile.Component) string {
	for _, c := range readers {
		if c != nil && !c.Disabled() {
			c.After(r.bundle)
		}
	}
	if r.options.bundle != nil {
		return *r.options.bundle
	}
	return r.session.ScopedName("cert-bundle")
}

// Component returns the component with the bundle.
func (r *Requester) Component() *reconcile.Component { return r.bundle }

// check reports mistakes of the program.
func (r *Requester) check() error { return r.asked.check(r.options.validateForCertManager()) }
