package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"
)

const (
	// skew is how much earlier than now a certificate begins, for hosts whose clocks are behind.
	skew = 5 * time.Minute
	// longestName is the longest common name that X.509 allows.
	longestName = 64
)

// NewCA returns a CA that is valid from now for the time life. It can sign the CA that replaces it. name is its common
// name; what is longer than 64 bytes is cut off. Each CA has a distinguished name of its own, since some clients find a
// CA by it alone.
func NewCA(now time.Time, name string, life time.Duration) (Pair, error) {
	serial, err := newSerial()
	if err != nil {
		return Pair{}, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: cut(name), SerialNumber: hex.EncodeToString(serial.Bytes()[:4])},
		NotBefore:    now.Add(-skew), NotAfter: now.Add(life),
		IsCA: true, BasicConstraintsValid: true, MaxPathLen: 1,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
	}
	return newPair(template, nil)
}

// CrossSign returns the certificate of the CA next, signed by the CA old, valid from now while both are. It is nil if
// old mayn't sign other CAs, or has expired.
func CrossSign(old, next Pair, now time.Time) (*x509.Certificate, error) {
	if old.Cert.MaxPathLen == 0 || !now.Before(old.Cert.NotAfter) {
		return nil, nil
	}
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	end := next.Cert.NotAfter
	if old.Cert.NotAfter.Before(end) {
		end = old.Cert.NotAfter
	}
	template := &x509.Certificate{
		SerialNumber: serial, RawSubject: next.Cert.RawSubject, SubjectKeyId: next.Cert.SubjectKeyId,
		NotBefore: now.Add(-skew), NotAfter: end,
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: next.Cert.KeyUsage,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, old.Cert, next.Cert.PublicKey, old.key)
	if err != nil {
		return nil, fmt.Errorf("sign the new CA with the old one: %w", err)
	}
	return x509.ParseCertificate(raw)
}

// Want describes a leaf.
type Want struct {
	// CommonName names the owner of the certificate; what is longer than 64 bytes is cut off.
	CommonName string
	Names      Names
	// Life is how long the certificate is valid. It never outlives its CA.
	Life time.Duration
}

// Issue returns a leaf for servers and clients, signed by ca, valid from now.
func Issue(ca Pair, want Want, now time.Time) (Pair, error) {
	end := now.Add(want.Life)
	if ca.Cert.NotAfter.Before(end) {
		end = ca.Cert.NotAfter
	}
	if !end.After(now) {
		return Pair{}, fmt.Errorf("the CA %s has expired at %s", ca.Cert.Subject.CommonName, ca.Cert.NotAfter.Format(time.RFC3339))
	}
	serial, err := newSerial()
	if err != nil {
		return Pair{}, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: cut(want.CommonName)},
		DNSNames:     want.Names.Hosts, IPAddresses: want.Names.netIPs(),
		NotBefore: now.Add(-skew), NotAfter: end,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	return newPair(template, &ca)
}

// newPair signs template with ca, or with its own key if ca is nil.
func newPair(template *x509.Certificate, ca *Pair) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	if template.SubjectKeyId, err = keyID(key.Public()); err != nil {
		return Pair{}, err
	}
	parent, signer := template, crypto.Signer(key)
	if ca != nil {
		parent, signer = ca.Cert, ca.key
	} else {
		template.AuthorityKeyId = template.SubjectKeyId
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return Pair{}, err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, errors.New("the new key can't be encoded")
	}
	return ParsePair(certificatePEM(raw), pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: encoded}))
}

// keyID identifies a public key: the first 20 bytes of its SHA-256 (RFC 7093).
func keyID(public crypto.PublicKey) ([]byte, error) {
	encoded, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(encoded)
	return sum[:20], nil
}

// newSerial returns a positive random number of 16 bytes.
func newSerial() (*big.Int, error) {
	bytes := make([]byte, 16)
	if _, err := rand.Read(bytes); err != nil {
		return nil, err
	}
	bytes[0] = bytes[0]&0x7f | 0x40
	return new(big.Int).SetBytes(bytes), nil
}

func cut(name string) string { return name[:min(len(name), longestName)] }
