package pki

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Authority is a CA as it is stored, maybe in the middle of its replacement by another one.
type Authority struct {
	// Current issues the leaves.
	Current Pair
	// Next is trusted beside Current, and issues the leaves later. It is empty unless the Stage is Trusting.
	Next Pair
	// Previous is trusted beside Current, and has no key any more. It is empty unless the Stage is Reissuing.
	Previous Pair
	// Cross is the certificate of the new CA, signed by the old one: while the Stage is Trusting, of Next by Current,
	// and while it is Reissuing, of Current by Previous. It is nil if the old CA couldn't sign one.
	Cross *x509.Certificate
	// Spread is the time at which all programs had what the stage is about within their reach: their Secrets were
	// written and their components ready. It is zero if that isn't so yet.
	Spread time.Time
}

// Stage is a stage of the replacement of a CA.
type Stage string

// The stages, in their order.
const (
	// Steady: there is one CA.
	Steady Stage = "Steady"
	// Trusting: the new CA is in all bundles, beside the old one, which still issues the leaves.
	Trusting Stage = "Trusting"
	// Reissuing: the new CA issues the leaves, and the old one is still in all bundles. Its key is gone.
	Reissuing Stage = "Reissuing"
)

// The keys of the data of an Authority.
const (
	KeyCert     = "tls.crt"
	KeyKey      = "tls.key"
	KeyBundle   = "ca.crt"
	keyNextCert = "next.crt"
	keyNextKey  = "next.key"
	keyPrevious = "previous.crt"
	keyCross    = "cross.crt"
)

// Stage returns the stage.
func (a Authority) Stage() Stage {
	switch {
	case a.Next.Cert != nil:
		return Trusting
	case a.Previous.Cert != nil:
		return Reissuing
	}
	return Steady
}

// Trusted returns the CAs that are in the bundle.
func (a Authority) Trusted() []Pair { return []Pair{a.Current, a.Next, a.Previous} }

// Bundle returns the certificates of all trusted CAs.
func (a Authority) Bundle() []byte { return Bundle(a.Trusted()...) }

// Chain returns what a program presents that has a leaf of Current: the leaf and, while the stage is Reissuing, Cross.
// Programs that know the old CA alone verify the leaf by it.
func (a Authority) Chain(leaf Pair) []byte {
	chain := certificatePEM(leaf.Cert.Raw)
	if a.Stage() == Reissuing && a.Cross != nil {
		chain = append(chain, certificatePEM(a.Cross.Raw)...)
	}
	return chain
}

// Digest identifies what a program has to read that starts now: certificate, which is nil for a program without one,
// and the CA that it has to know. While the stage is Trusting, it needn't know the new CA yet if there is a Cross. So
// in the replacement of a CA the digest of a program changes once, when the new CA issues, and without a Cross it
// changes when the new CA becomes trusted, too.
func (a Authority) Digest(certificate []byte) string {
	known := a.Current
	if a.Stage() == Trusting && a.Cross == nil {
		known = a.Next
	}
	sum := sha256.Sum256(slices.Concat(known.Cert.Raw, certificate))
	return hex.EncodeToString(sum[:16])
}

// Data returns what is stored, without Spread.
func (a Authority) Data() map[string][]byte {
	data := map[string][]byte{KeyCert: a.Current.CertPEM, KeyKey: a.Current.KeyPEM, KeyBundle: a.Bundle()}
	if a.Next.Cert != nil {
		data[keyNextCert], data[keyNextKey] = a.Next.CertPEM, a.Next.KeyPEM
	}
	if a.Previous.Cert != nil {
		data[keyPrevious] = a.Previous.CertPEM
	}
	if a.Cross != nil {
		data[keyCross] = certificatePEM(a.Cross.Raw)
	}
	return data
}

// ParseAuthority parses what Data returns. The error names what is wrong, and never repeats content.
func ParseAuthority(data map[string][]byte) (Authority, error) {
	var a Authority
	var err error
	if a.Current, err = ParseCA(data[KeyCert], data[KeyKey]); err != nil {
		return Authority{}, fmt.Errorf("%s and %s: %w", KeyCert, KeyKey, err)
	}
	if data[keyNextCert] != nil || data[keyNextKey] != nil {
		if a.Next, err = ParseCA(data[keyNextCert], data[keyNextKey]); err != nil {
			return Authority{}, fmt.Errorf("%s and %s: %w", keyNextCert, keyNextKey, err)
		}
	}
	if previous := data[keyPrevious]; previous != nil {
		certs, err := ParseCertificates(previous)
		if err == nil {
			err = checkCA(certs[0])
		}
		if err != nil {
			return Authority{}, fmt.Errorf("%s: %w", keyPrevious, err)
		}
		a.Previous = Pair{CertPEM: certificatePEM(certs[0].Raw), Cert: certs[0]}
	}
	if a.Cross, err = a.parseCross(data[keyCross]); err != nil {
		return Authority{}, fmt.Errorf("%s: %w", keyCross, err)
	}
	return a, nil
}

// parseCross returns the certificate Cross. While the stage is Steady, there is none.
func (a Authority) parseCross(text []byte) (*x509.Certificate, error) {
	of, by := a.Next.Cert, a.Current.Cert
	switch stage := a.Stage(); {
	case stage == Steady || text == nil:
		return nil, nil
	case stage == Reissuing:
		of, by = a.Current.Cert, a.Previous.Cert
	}
	certs, err := ParseCertificates(text)
	if err != nil {
		return nil, err
	}
	cross := certs[0]
	if !bytes.Equal(cross.RawSubject, of.RawSubject) || !bytes.Equal(cross.RawSubjectPublicKeyInfo, of.RawSubjectPublicKeyInfo) || !signedBy(cross, by) {
		return nil, errors.New("isn't the certificate of the new CA, signed by the old one")
	}
	return cross, nil
}
