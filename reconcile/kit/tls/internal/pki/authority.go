package pki

import (
	"fmt"
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
	// Spread is the time at which the Secrets of all leaves had what the stage is about; zero if they don't have it yet.
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

// Data returns what is stored, without Spread.
func (a Authority) Data() map[string][]byte {
	data := map[string][]byte{KeyCert: a.Current.CertPEM, KeyKey: a.Current.KeyPEM, KeyBundle: a.Bundle()}
	if a.Next.Cert != nil {
		data[keyNextCert], data[keyNextKey] = a.Next.CertPEM, a.Next.KeyPEM
	}
	if a.Previous.Cert != nil {
		data[keyPrevious] = a.Previous.CertPEM
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
	return a, nil
}
