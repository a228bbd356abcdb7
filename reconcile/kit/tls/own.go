package tls

import (
	"slices"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/pki"
)

// The names of the components that Own adds, and of their objects.
const (
	// ComponentCA is the component with the CA, and ComponentLeaves the component with the certificates. ComponentRoll
	// has no objects: it comes last, and sees whether the components that read certificates are ready.
	ComponentCA     = "tls-ca"
	ComponentLeaves = "tls"
	ComponentRoll   = "tls-roll"
)

// Authority is a Source with a CA of its own, see Own.
type Authority struct {
	session *reconcile.Session
	options options
	leaves  *reconcile.Component
	roll    *reconcile.Component
	// readers are the components for which the replacement of the CA waits.
	readers []*reconcile.Component
	asked   asked
	// issuer is the CA with which the certificates were rendered, nil if there is none yet.
	issuer *pki.Authority
}

var _ Source = (*Authority)(nil)

// Own returns the CA of the resource. It adds three components to the session: tls-ca, with the Secret
// <resource>-tls-ca, tls, with a Secret <resource>-<component>-tls for each certificate and the ConfigMap
// <resource>-tls-bundle, whose ca.crt has the CAs to trust, and tls-roll, without objects, which waits for all
// components with certificates. Call it once in Setup. A cluster-scoped resource needs a manager with a default
// namespace.
//
// The CA is replaced in stages. A stage waits until all components with certificates are ready; the event EventWaits
// says once if that takes longer than the time Wait, and than ten minutes. Until then the old CA stays trusted, and
// certificates that are due are renewed. A stage that would outlast the life of a CA ends nevertheless, with the event
// EventForced.
//
// The Secret of the CA is created once, and changed only by these stages. If its content is damaged, its key is
// missing, or the two don't belong together, the component tls-ca fails with a request.Configuration error, and nothing
// is replaced: restore the Secret. If the Secret is deleted, there is a new CA, and all certificates are issued anew at
// once, which retires the old CA without its stages: until all programs have read their Secrets, they don't trust each
// other.
//
// A certificate that somebody else has stored in its Secret stays while it is valid for the names, whoever issued it.
// If no CA of the bundle issued it, the event EventForeign says so. One that isn't valid for the names, is damaged, or
// is of the CA of the resource when that is replaced, is replaced, with the event EventReplaced.
//
//	kubectl annotate secret SECRET operkit.dev/renew="$(date)" --overwrite
//
// issues a new certificate, or begins to replace the CA, when the value of the annotation is a new one.
func Own(s *reconcile.Session, opts ...Option) *Authority {
	a := &Authority{session: s, options: newOptions(opts)}
	ca := s.Use(ComponentCA, root{a})
	a.leaves = s.Use(ComponentLeaves, leaves{a}).After(ca)
	a.roll = s.Use(ComponentRoll, roll{a}).After(a.leaves)
	return a
}

// Certificate implements Source.
func (a *Authority) Certificate(c *reconcile.Component, names ...string) *Certificate {
	return a.Named(c, nameOf(c), names...)
}

// Named implements Source.
func (a *Authority) Named(c *reconcile.Component, name string, names ...string) *Certificate {
	if c != nil {
		a.serve(c)
	}
	return a.asked.add(c, name, a.session.ScopedName(name+"-tls"), names)
}

// serve lets a component wait for the certificates, and the replacement of the CA for the component.
func (a *Authority) serve(c *reconcile.Component) {
	if c.Disabled() || slices.Contains(a.readers, c) {
		return
	}
	c.After(a.leaves)
	a.roll.After(c)
	a.readers = append(a.readers, c)
}

// Bundle returns the name of the ConfigMap whose ca.crt has the CAs to trust, for components without a certificate. The
// readers wait for the ConfigMap, and the replacement of the CA waits for them, as for components with a certificate. A
// disabled reader, or a nil one, is ignored.
func (a *Authority) Bundle(readers ...*reconcile.Component) string {
	for _, c := range readers {
		if c != nil {
			a.serve(c)
		}
	}
	return a.session.ScopedName("tls-bundle")
}

// Component returns the component with the certificates and the bundle.
func (a *Authority) Component() *reconcile.Component { return a.leaves }

// secret returns the name of the Secret of the CA.
func (a *Authority) secret() string { return a.session.ScopedName("tls-ca") }

// commonName returns the name of the CA in its certificate.
func (a *Authority) commonName() string { return a.session.TruncatedName(a.session.Name() + "-ca") }

// check reports mistakes of the program.
func (a *Authority) check() error { return a.asked.check(a.options.validateForOwn()) }
