package tlssecret

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/operkit/operkit/reconcile/internal/pki"
)

// The keys of the data of the Secret, besides those of package pki.
const (
	keyIssuerCert = "issuer.crt"
	keyIssuerKey  = "issuer.key"
	keyCross      = "cross.crt"
)

// state is the content of the Secret. Parts that can't be used are empty.
type state struct {
	// issuer is the CA that issues certificates.
	issuer pki.Pair
	// cross is the certificate of issuer, signed by the CA before it; nil if that couldn't sign one.
	cross *x509.Certificate
	// leaf is the certificate of the server, followed by cross.
	leaf pki.Pair
	// bundle are the CAs to trust.
	bundle []*x509.Certificate
	book   book
	// blank: there is no content.
	blank bool
	// faults say by the key what can't be used, never with its content.
	faults map[string]string
}

// book is what is known about a state beyond the certificates. It is an annotation.
type book struct {
	// Issuer and Leaf are the fingerprints of the certificates that were stored last. Others were stored by hand.
	Issuer string `json:"issuer"`
	Leaf   string `json:"leaf"`
	// Since is when Issuer came into the bundle.
	Since time.Time `json:"since"`
	// Until is, by the fingerprint of a CA, when the last certificate of it expires.
	Until map[string]time.Time `json:"until"`
}

// parse parses the content of a Secret.
func parse(data map[string][]byte, annotation string) *state {
	s := &state{faults: map[string]string{}, blank: true}
	for _, key := range []string{pki.KeyCert, pki.KeyKey, pki.KeyBundle, keyIssuerCert, keyIssuerKey} {
		s.blank = s.blank && len(bytes.TrimSpace(data[key])) == 0
	}
	var err error
	if s.issuer, err = pki.ParseCA(data[keyIssuerCert], data[keyIssuerKey]); err != nil {
		s.issuer, s.faults[keyIssuerKey] = pki.Pair{}, err.Error()
	}
	if s.leaf, err = pki.ParsePair(data[pki.KeyCert], data[pki.KeyKey]); err != nil {
		s.leaf, s.faults[pki.KeyKey] = pki.Pair{}, err.Error()
	}
	if cross, err := pki.ParseCertificates(data[keyCross]); err == nil {
		s.cross = cross[0]
	}
	text := data[pki.KeyBundle]
	whole, _ := pki.Trust(time.Time{}, text)
	s.bundle, _ = pki.ParseCertificates(whole)
	if len(s.bundle) == 0 {
		s.faults[pki.KeyBundle] = "has no certificate"
	} else if bytes.Count(text, []byte("-----BEGIN")) > bytes.Count(whole, []byte("-----BEGIN")) {
		s.faults[pki.KeyBundle] = "has a damaged or repeated certificate"
	}
	if json.Unmarshal([]byte(annotation), &s.book) != nil {
		s.book = book{}
	}
	return s
}

// empty reports whether there is nothing that could be used.
func (s *state) empty() bool {
	return s == nil || s.issuer.Cert == nil && s.leaf.Cert == nil && len(s.bundle) == 0
}

// data returns what is stored.
func (s *state) data() map[string][]byte {
	data := map[string][]byte{
		pki.KeyCert: s.leaf.CertPEM, pki.KeyKey: s.leaf.KeyPEM, pki.KeyBundle: s.bundlePEM(),
		keyIssuerCert: s.issuer.CertPEM, keyIssuerKey: s.issuer.KeyPEM,
	}
	if s.cross != nil {
		data[keyCross] = pki.Bundle(pki.Pair{Cert: s.cross})
	}
	return data
}

func (s *state) bundlePEM() []byte {
	var pairs []pki.Pair
	for _, ca := range s.bundle {
		pairs = append(pairs, pki.Pair{Cert: ca})
	}
	return pki.Bundle(pairs...)
}

func (s *state) annotation() string {
	text, _ := json.Marshal(s.book) // strings and times
	return string(text)
}

func (s *state) clone() state {
	next := *s
	next.bundle, next.book.Until, next.faults = slices.Clone(s.bundle), maps.Clone(s.book.Until), nil
	next.blank = false
	return next
}

// consistent reports whether a Source has stored the state as it is.
func (s *state) consistent() bool {
	return len(s.faults) == 0 && s.book.Issuer == fingerprint(s.issuer) && s.book.Leaf == fingerprint(s.leaf)
}

func fingerprint(pair pki.Pair) string {
	if pair.Cert == nil {
		return ""
	}
	return pki.Fingerprint(pair.Cert)
}

// trusts reports whether a CA is in the bundle.
func (s *state) trusts(ca *x509.Certificate) bool { return slices.ContainsFunc(s.bundle, ca.Equal) }

// add adds a CA to the bundle.
func (s *state) add(ca *x509.Certificate) {
	if !s.trusts(ca) {
		s.bundle = append(s.bundle, ca)
	}
}

// expect says that a certificate of a CA is valid until a time. For a CA without such a time, that isn't known of all.
func (b *book) expect(ca *x509.Certificate, until time.Time) {
	if b.Until == nil {
		b.Until = map[string]time.Time{}
	}
	id, whole := pki.Fingerprint(ca), until.UTC().Truncate(time.Second)
	if whole.Before(until) {
		whole = whole.Add(time.Second)
	}
	if whole.After(b.Until[id]) {
		b.Until[id] = whole
	}
}

// forget drops the times of CAs that aren't in the bundle any more.
func (s *state) forget() {
	until := map[string]time.Time{}
	for _, ca := range s.bundle {
		if at, known := s.book.Until[pki.Fingerprint(ca)]; known {
			until[pki.Fingerprint(ca)] = at
		}
	}
	s.book.Until = until
}

// drops returns when a CA leaves the bundle if it issues nothing any more.
func (s *state) drops(ca *x509.Certificate) time.Time {
	if until, known := s.book.Until[pki.Fingerprint(ca)]; known && until.Before(ca.NotAfter) {
		return until
	}
	return ca.NotAfter
}

// verifies reports whether clients that trust the bundle accept a certificate now.
func (s *state) verifies(leaf pki.Pair, now time.Time) bool {
	if leaf.Cert == nil {
		return false
	}
	roots, intermediates := x509.NewCertPool(), x509.NewCertPool()
	for _, ca := range s.bundle {
		roots.AddCert(ca)
	}
	chain, _ := pki.ParseCertificates(leaf.CertPEM)
	for _, one := range chain[1:] {
		intermediates.AddCert(one)
	}
	_, err := leaf.Cert.Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: intermediates, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	return err == nil
}

// within reports whether a certificate is valid at a time.
func within(cert *x509.Certificate, now time.Time) bool {
	return cert != nil && !now.Before(cert.NotBefore) && now.Before(cert.NotAfter)
}
