package pki

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newAuthority(t *testing.T) (*Authority, *x509.CertPool) {
	t.Helper()
	authority, err := NewAuthority("test")
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(authority.Pair().Certificate))
	return authority, pool
}

func leaf(t *testing.T, pair Pair) *x509.Certificate {
	t.Helper()
	loaded, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	require.NoError(t, err, "certificate and key belong together")
	return loaded.Leaf
}

func TestServer(t *testing.T) {
	t.Parallel()
	authority, pool := newAuthority(t)
	pair, err := authority.Server("server", "127.0.0.1", "kubernetes.default")
	require.NoError(t, err)
	certificate := leaf(t, pair)
	for _, host := range []string{"127.0.0.1", "kubernetes.default"} {
		_, err = certificate.Verify(x509.VerifyOptions{Roots: pool, DNSName: host})
		assert.NoError(t, err, host)
	}
	_, err = certificate.Verify(x509.VerifyOptions{Roots: pool, DNSName: "127.0.0.2"})
	assert.Error(t, err, "a host that was not asked for")
	_, err = certificate.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	assert.Error(t, err, "a serving certificate is nobody's identity")
}

// Clients of OpenSSL look for the issuer of a certificate by its name, and take one that names itself for self-signed.
func TestIssuer(t *testing.T) {
	t.Parallel()
	authority, pool := newAuthority(t)
	root := leaf(t, authority.Pair())
	assert.Equal(t, "test-ca", root.Subject.CommonName)
	assert.Equal(t, root.RawIssuer, root.RawSubject, "the authority signs itself")
	pair, err := authority.Server("test", "127.0.0.1")
	require.NoError(t, err)
	certificate := leaf(t, pair)
	assert.Equal(t, root.RawSubject, certificate.RawIssuer)
	assert.NotEqual(t, certificate.RawIssuer, certificate.RawSubject, "a serving certificate with the name of the cluster isn't self-signed")
	chains, err := certificate.Verify(x509.VerifyOptions{Roots: pool, DNSName: "127.0.0.1"})
	require.NoError(t, err)
	require.Len(t, chains, 1)
	assert.Equal(t, []*x509.Certificate{certificate, root}, chains[0])

	_, err = authority.Server("test-ca", "127.0.0.1")
	assert.EqualError(t, err, "certificate for test-ca: it is the name of the authority: use another one")
	_, err = authority.Client("test-ca", "dev")
	assert.NoError(t, err, "the groups make it another name")
}

func TestClient(t *testing.T) {
	t.Parallel()
	authority, pool := newAuthority(t)
	pair, err := authority.Client("bob", "dev", "ops")
	require.NoError(t, err)
	certificate := leaf(t, pair)
	assert.Equal(t, "bob", certificate.Subject.CommonName)
	assert.Equal(t, []string{"dev", "ops"}, certificate.Subject.Organization)
	_, err = certificate.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	require.NoError(t, err)

	_, other := newAuthority(t)
	_, err = certificate.Verify(x509.VerifyOptions{Roots: other, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	assert.Error(t, err, "another cluster's authority does not know it")

	_, err = authority.Client("")
	assert.EqualError(t, err, "client certificate: the user name is empty")
}

func TestLoadAuthority(t *testing.T) {
	t.Parallel()
	authority, pool := newAuthority(t)
	loaded, err := LoadAuthority(authority.Pair())
	require.NoError(t, err)
	pair, err := loaded.Client("bob")
	require.NoError(t, err)
	_, err = leaf(t, pair).Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	assert.NoError(t, err, "what a loaded authority signs is what the first one would have signed")

	for _, row := range []struct {
		reason string
		pair   Pair
		err    string
	}{
		{"nothing", Pair{}, "certificate authority: no certificate in PEM form"},
		{"the key in the certificate's place", Pair{Certificate: authority.Pair().Key}, "certificate authority: no certificate in PEM form"},
		{"no key", Pair{Certificate: authority.Pair().Certificate}, "certificate authority: no private key in PEM form"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			_, err := LoadAuthority(row.pair)
			assert.EqualError(t, err, row.err)
		})
	}
}

func TestNewKeyPair(t *testing.T) {
	t.Parallel()
	pair, err := NewKeyPair()
	require.NoError(t, err)
	private, err := decodeKey(pair.Private)
	require.NoError(t, err)
	block, _ := pem.Decode(pair.Public)
	require.NotNil(t, block)
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	require.NoError(t, err)
	assert.True(t, public.(*ecdsa.PublicKey).Equal(private.Public()))
}

func FuzzLoadAuthority(f *testing.F) {
	authority, err := NewAuthority("fuzz")
	require.NoError(f, err)
	pair := authority.Pair()
	f.Add(pair.Certificate, pair.Key)
	f.Add([]byte("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----"), []byte{})
	f.Fuzz(func(t *testing.T, certificate, key []byte) {
		loaded, err := LoadAuthority(Pair{Certificate: certificate, Key: key})
		if err == nil && loaded.certificate == nil {
			t.Error("an authority without a certificate")
		}
	})
}
