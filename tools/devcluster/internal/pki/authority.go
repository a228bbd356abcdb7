package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// lifetime is how long certificates are valid. Each start of a cluster creates new certificates.
const lifetime = 365 * 24 * time.Hour

// backdate tolerates a client whose clock is slightly behind.
const backdate = time.Minute

// Authority is a certificate authority. Make one with NewAuthority or LoadAuthority; its methods may
// be called concurrently.
type Authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
	pair        Pair
}

// Pair is a certificate and its private key, both PEM encoded.
type Pair struct {
	Certificate []byte
	Key         []byte
}

// authoritySuffix ends the names of authorities. A certificate that has the name of the authority that signed it counts
// as self-signed for some TLS clients, such as those of OpenSSL.
const authoritySuffix = "-ca"

// NewAuthority makes an authority with a new key, whose common name is name-ca.
func NewAuthority(name string) (*Authority, error) {
	template, err := newTemplate(name+authoritySuffix, nil)
	if err != nil {
		return nil, err
	}
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	pair, err := sign(template, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("certificate authority %s: %w", name, err)
	}
	return LoadAuthority(pair)
}

// LoadAuthority returns the authority with that certificate and key, as returned by Pair.
func LoadAuthority(pair Pair) (*Authority, error) {
	certificate, err := decodeCertificate(pair.Certificate)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	key, err := decodeKey(pair.Key)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	return &Authority{certificate: certificate, key: key, pair: pair}, nil
}

// Pair returns the authority's own certificate and key.
func (a *Authority) Pair() Pair { return a.pair }

// Client issues a certificate that authenticates the user at the API server, as a member of groups.
func (a *Authority) Client(user string, groups ...string) (Pair, error) {
	if user == "" {
		return Pair{}, errors.New("client certificate: the user name is empty")
	}
	template, err := newTemplate(user, groups)
	if err != nil {
		return Pair{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.issue(template)
}

// Server issues a serving certificate for the host names and IP addresses in hosts.
func (a *Authority) Server(name string, hosts ...string) (Pair, error) {
	template, err := newTemplate(name, nil)
	if err != nil {
		return Pair{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
			continue
		}
		template.DNSNames = append(template.DNSNames, host)
	}
	return a.issue(template)
}

func (a *Authority) issue(template *x509.Certificate) (Pair, error) {
	if template.Subject.String() == a.certificate.Subject.String() {
		return Pair{}, fmt.Errorf("certificate for %s: it is the name of the authority: use another one", template.Subject.CommonName)
	}
	pair, err := sign(template, a.certificate, a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("certificate for %s: %w", template.Subject.CommonName, err)
	}
	return pair, nil
}

func newTemplate(name string, organizations []string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("certificate for %s: serial number: %w", name, err)
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name, Organization: organizations},
		NotBefore:    now.Add(-backdate),
		NotAfter:     now.Add(lifetime),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}, nil
}

// sign creates a key and a certificate for it. Without a parent the certificate is self-signed.
func sign(template, parent *x509.Certificate, parentKey crypto.Signer) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	if parent == nil {
		parent, parentKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	if err != nil {
		return Pair{}, err
	}
	encodedKey, err := encodeKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{Certificate: encodeCertificate(der), Key: encodedKey}, nil
}
