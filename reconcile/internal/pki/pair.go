package pki

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
)

// Pair is a certificate with its key.
type Pair struct {
	// CertPEM has the certificate, and after it certificates of intermediate CAs if there are any.
	CertPEM, KeyPEM []byte
	// Cert is the first certificate of CertPEM.
	Cert *x509.Certificate
	key  crypto.Signer
}

const (
	certificateBlock = "CERTIFICATE"
	keyBlock         = "PRIVATE KEY"
)

// ParsePair parses a certificate and its key. The error says which of the two is wrong.
func ParsePair(certPEM, keyPEM []byte) (Pair, error) {
	certs, err := ParseCertificates(certPEM)
	if err != nil {
		return Pair{}, fmt.Errorf("certificate: %w", err)
	}
	if len(bytes.TrimSpace(keyPEM)) == 0 {
		return Pair{}, errors.New("key: is missing")
	}
	if block, _ := pem.Decode(keyPEM); block == nil {
		return Pair{}, errors.New("key: is not PEM")
	}
	parsed, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		// The error of crypto/tls isn't wrapped, because it may repeat what stands in the PEM.
		return Pair{}, errors.New("key: is not a private key of the certificate")
	}
	signer, ok := parsed.PrivateKey.(crypto.Signer)
	if !ok {
		return Pair{}, errors.New("key: can't sign")
	}
	return Pair{CertPEM: certPEM, KeyPEM: keyPEM, Cert: certs[0], key: signer}, nil
}

// ParseCA is ParsePair for a certificate that may sign others.
func ParseCA(certPEM, keyPEM []byte) (Pair, error) {
	pair, err := ParsePair(certPEM, keyPEM)
	if err != nil {
		return Pair{}, err
	}
	return pair, checkCA(pair.Cert)
}

func checkCA(cert *x509.Certificate) error {
	switch {
	case !cert.BasicConstraintsValid || !cert.IsCA:
		return errors.New("certificate: is not of a CA")
	case cert.KeyUsage != 0 && cert.KeyUsage&x509.KeyUsageCertSign == 0:
		return errors.New("certificate: its key usage doesn't allow to sign certificates")
	}
	return nil
}

// ParseCertificates parses one or several certificates. Text around the PEM blocks is ignored.
func ParseCertificates(text []byte) (certs []*x509.Certificate, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("is missing")
	}
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if block.Type != certificateBlock {
			return nil, fmt.Errorf("has a PEM block that is no certificate at position %d", len(certs)+1)
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("can't be parsed at position %d", len(certs)+1)
		}
		certs = append(certs, cert)
	}
	if len(certs) == 0 {
		return nil, errors.New("is not PEM")
	}
	return certs, nil
}

// Bundle joins certificates into one PEM text, each once, in their order. Pairs without a certificate are left out.
func Bundle(pairs ...Pair) []byte {
	var bundle []byte
	var seen [][]byte
	for _, pair := range pairs {
		if pair.Cert == nil || slices.ContainsFunc(seen, func(raw []byte) bool { return bytes.Equal(raw, pair.Cert.Raw) }) {
			continue
		}
		seen = append(seen, pair.Cert.Raw)
		bundle = append(bundle, certificatePEM(pair.Cert.Raw)...)
	}
	return bundle
}

func certificatePEM(raw []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: raw})
}
