package tls

import (
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
)

// asked are the certificates that a Source was asked for.
type asked struct {
	certs []*Certificate
	// mistakes are mistakes in how certificates were asked for.
	mistakes []error
}

// add records a certificate in a Secret. It isn't recorded if it has no component.
func (a *asked) add(c *reconcile.Component, name, secret string, names []string) *Certificate {
	cert := &Certificate{component: c, name: name, names: slices.Clone(names), secret: secret}
	switch {
	case c == nil:
		a.mistakes = append(a.mistakes, fmt.Errorf("certificate %s: nil component", name))
		return cert
	case name == "":
		a.mistakes = append(a.mistakes, fmt.Errorf("a certificate of component %s has no name", c.Name()))
	case slices.ContainsFunc(a.certs, func(other *Certificate) bool { return other.secret == secret }):
		a.mistakes = append(a.mistakes, fmt.Errorf("certificate %s: is asked for twice: use Named for a second one", name))
	}
	a.certs = append(a.certs, cert)
	return cert
}

// check reports the mistakes of the program, with those in its options.
func (a *asked) check(options error) error {
	if err := errors.Join(append(slices.Clone(a.mistakes), options)...); err != nil {
		return request.Permanent(fmt.Errorf("tls: %w", err))
	}
	return nil
}

// nameOf returns the name of the first certificate of a component.
func nameOf(c *reconcile.Component) string {
	if c == nil {
		return ""
	}
	return c.Name()
}
