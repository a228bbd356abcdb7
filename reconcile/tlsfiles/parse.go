package tlsfiles

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

// content is what the files contain.
type content struct {
	certificate, key, ca []byte
}

func (c content) equal(other content) bool {
	return bytes.Equal(c.certificate, other.certificate) && bytes.Equal(c.key, other.key) && bytes.Equal(c.ca, other.ca)
}

// material is what is served: content that could be parsed. It is never changed.
type material struct {
	// pair is empty if there is only a CA. Its Leaf is set.
	pair tls.Certificate
	// pool has the CAs; nil if no file is named.
	pool   *x509.CertPool
	digest string
}

// parse parses the content of files. Errors name the file, and never repeat content: those of crypto/tls and
// crypto/x509 aren't wrapped, because they may.
func parse(files Files, read content) (*material, error) {
	m, sum := &material{}, sha256.New()
	if files.Certificate != "" {
		chain, err := parseCertificates(read.certificate)
		if err != nil {
			return nil, fmt.Errorf("certificate %s: %w", files.Certificate, err)
		}
		if m.pair, err = parsePair(files, read); err != nil {
			return nil, err
		}
		m.pair.Leaf = chain[0]
		for _, one := range chain {
			sum.Write(one.Raw)
		}
	}
	// Certificates can't be confused with CAs: the sum of each list is summed.
	sums := sum.Sum(nil)
	if files.CA != "" {
		cas, err := parseCertificates(read.ca)
		if err != nil {
			return nil, fmt.Errorf("CA %s: %w", files.CA, err)
		}
		m.pool = x509.NewCertPool()
		for _, one := range cas {
			m.pool.AddCert(one)
			each := sha256.Sum256(one.Raw)
			sums = append(sums, each[:]...)
		}
	}
	all := sha256.Sum256(sums)
	m.digest = hex.EncodeToString(all[:16])
	return m, nil
}

// parseCertificates returns at least one certificate. Text around the PEM blocks is ignored.
func parseCertificates(text []byte) (certs []*x509.Certificate, err error) {
	begun := bytes.Count(text, []byte("-----BEGIN"))
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			break
		}
		text = rest
		if block.Type != "CERTIFICATE" {
			return nil, errors.New("has a PEM block that isn't a certificate")
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, errors.New("has a damaged certificate")
		}
		certs = append(certs, cert)
	}
	// pem.Decode skips what it can't decode, such as the half of a certificate that is being written.
	if begun != len(certs) || bytes.Contains(text, []byte("-----")) {
		return nil, errors.New("has a damaged or half-written PEM block")
	}
	if len(certs) == 0 {
		return nil, errors.New("has no certificate in PEM")
	}
	return certs, nil
}

func parsePair(files Files, read content) (tls.Certificate, error) {
	pair, err := tls.X509KeyPair(read.certificate, read.key)
	if err == nil {
		return pair, nil
	}
	if !hasKey(read.key) {
		return tls.Certificate{}, fmt.Errorf("key %s: has no private key in PEM, or a damaged one", files.Key)
	}
	return tls.Certificate{}, fmt.Errorf("key %s: isn't the key of the certificate %s", files.Key, files.Certificate)
}

// hasKey reports whether text has a private key in one of the forms that crypto/tls reads.
func hasKey(text []byte) bool {
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return false
		}
		text = rest
		var key crypto.PrivateKey
		for _, parse := range []func([]byte) (crypto.PrivateKey, error){
			func(der []byte) (crypto.PrivateKey, error) { return x509.ParsePKCS8PrivateKey(der) },
			func(der []byte) (crypto.PrivateKey, error) { return x509.ParsePKCS1PrivateKey(der) },
			func(der []byte) (crypto.PrivateKey, error) { return x509.ParseECPrivateKey(der) },
		} {
			if found, err := parse(block.Bytes); err == nil {
				key = found
			}
		}
		if key != nil {
			return true
		}
	}
}

// valid returns an error if the certificate isn't valid at a time.
func (m *material) valid(files Files, now time.Time) error {
	switch leaf := m.pair.Leaf; {
	case leaf == nil:
	case now.Before(leaf.NotBefore):
		return fmt.Errorf("certificate %s: isn't valid before %s: check the clocks", files.Certificate, stamp(leaf.NotBefore))
	case now.After(leaf.NotAfter):
		return fmt.Errorf("certificate %s: has expired at %s: renew it", files.Certificate, stamp(leaf.NotAfter))
	}
	return nil
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }
