package tls

import (
	"strings"

	"github.com/operkit/operkit/reconcile"
)

// Source issues certificates for the components of one session. Its methods are for Setup.
type Source interface {
	// Certificate returns a certificate for c, which c waits for. names are the hosts and IP addresses of a server,
	// without ports; a host may begin with *. as a wildcard. Characters beyond ASCII must be written in their ASCII
	// form. Without names the certificate is for clients only. A disabled component has no certificate: disable it
	// before this call.
	//
	// A name that is invalid is a request.Configuration error of the component that issues the certificates, which then
	// issues none. For the second certificate of a component use Named.
	Certificate(c *reconcile.Component, names ...string) *Certificate
	// Named is Certificate for a component that has several certificates. name is part of the name of the Secret, and
	// unique among all certificates of the session.
	Named(c *reconcile.Component, name string, names ...string) *Certificate
}

// Certificate is a certificate of a component.
type Certificate struct {
	component *reconcile.Component
	name      string
	secret    string
	names     []string
	ca        []byte
	digest    string
}

// Secret returns the name of the Secret in the namespace of the resource. It is of the type kubernetes.io/tls: tls.crt
// has the certificate, tls.key its key, and ca.crt the CAs to trust, as PEM. With CertManager, ca.crt has only the CA
// that issued this certificate, or isn't there if the issuer doesn't name its CA; Requester.Bundle has all CAs.
func (c *Certificate) Secret() string { return c.secret }

// CA returns the CAs to trust as PEM, for example for the caBundle of a webhook. It is nil in Setup and in a dry run
// before the first deployment: call it in the Build of the component that has asked for the certificate. With
// CertManager these are the CAs of its bundle; nil if the issuer doesn't name its CA and there is no TrustBundle.
func (c *Certificate) CA() []byte { return c.ca }

// Digest changes whenever a program that reads its files only at its start has to be restarted: with each new
// certificate, and so once in the replacement of a CA by Own; with CertManager, whenever the certificate or the CAs to
// trust change. It is no secret. An annotation of a Pod template with it restarts the Pods. A Secret of Own has the
// same text in the annotation dependency-digest, which package podhash uses. Digest is empty before the certificate is
// issued.
func (c *Certificate) Digest() string { return c.digest }

// Service returns the names under which Pods reach a Service: its name alone, with the namespace, and with svc and
// svc.cluster.local at the end. If namespace is empty, it returns the name alone.
func Service(name, namespace string) []string {
	names := []string{name}
	if namespace == "" {
		return names
	}
	for _, rest := range []string{"", "svc", "svc.cluster.local"} {
		names = append(names, strings.TrimSuffix(name+"."+namespace+"."+rest, "."))
	}
	return names
}
