package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const year = 365 * 24 * time.Hour

// day returns the time after some days.
func day(n int) time.Time { return time.Date(2030, 1, 1+n, 0, 0, 0, 0, time.UTC) }

func newCA(t *testing.T, at time.Time) Pair {
	t.Helper()
	ca, err := NewCA(at, "test", 10*year)
	require.NoError(t, err)
	return ca
}

// wanted describes a leaf of a year for names.
func wanted(t *testing.T, names ...string) Want {
	t.Helper()
	parsed, err := ParseNames(names)
	require.NoError(t, err)
	return Want{CommonName: "web", Names: parsed, Life: year}
}

func newLeaf(t *testing.T, ca Pair, at time.Time, names ...string) Pair {
	t.Helper()
	leaf, err := Issue(ca, wanted(t, names...), at)
	require.NoError(t, err)
	return leaf
}

func TestIssue(t *testing.T) {
	t.Parallel()
	ca := newCA(t, day(0))
	leaf := newLeaf(t, ca, day(10), "web", "10.0.0.1", "::1")
	t.Run("tls 3: a CA of ten years with a path length of 1, a leaf of a year, ECDSA P-256", func(t *testing.T) {
		assert.True(t, ca.Cert.IsCA)
		assert.Equal(t, 1, ca.Cert.MaxPathLen)
		assert.Equal(t, day(0).Add(10*year), ca.Cert.NotAfter)
		assert.False(t, leaf.Cert.IsCA)
		assert.Equal(t, day(10).Add(year), leaf.Cert.NotAfter)
		for _, pair := range []Pair{ca, leaf} {
			assert.Equal(t, elliptic.P256(), pair.Cert.PublicKey.(*ecdsa.PublicKey).Curve)
		}
	})
	t.Run("tls 3: the keys have identifiers, and each CA has a name of its own", func(t *testing.T) {
		assert.Len(t, ca.Cert.SubjectKeyId, 20)
		assert.Equal(t, ca.Cert.SubjectKeyId, ca.Cert.AuthorityKeyId)
		assert.Equal(t, ca.Cert.SubjectKeyId, leaf.Cert.AuthorityKeyId)
		assert.NotEqual(t, ca.Cert.SubjectKeyId, leaf.Cert.SubjectKeyId)
		assert.NotEqual(t, ca.Cert.Subject.String(), newCA(t, day(0)).Cert.Subject.String())
	})
	t.Run("tls 3: it begins five minutes earlier, for clocks that are behind", func(t *testing.T) {
		assert.Equal(t, day(10).Add(-5*time.Minute), leaf.Cert.NotBefore)
		assert.Equal(t, day(0).Add(-5*time.Minute), ca.Cert.NotBefore)
	})
	t.Run("tls 3: an IP address is no host", func(t *testing.T) {
		assert.Equal(t, []string{"web"}, leaf.Cert.DNSNames)
		assert.Len(t, leaf.Cert.IPAddresses, 2)
	})
	t.Run("tls 3: it verifies for servers and clients", func(t *testing.T) {
		roots := x509.NewCertPool()
		roots.AddCert(ca.Cert)
		for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
			for _, name := range []string{"web", "10.0.0.1", "[::1]"} {
				_, err := leaf.Cert.Verify(x509.VerifyOptions{Roots: roots, DNSName: name, CurrentTime: day(11), KeyUsages: []x509.ExtKeyUsage{usage}})
				require.NoError(t, err, name)
			}
		}
		_, err := leaf.Cert.Verify(x509.VerifyOptions{Roots: roots, DNSName: "other", CurrentTime: day(11)})
		require.Error(t, err)
	})
	t.Run("tls 3: a leaf doesn't outlive its CA, and an expired CA issues none", func(t *testing.T) {
		late, err := Issue(ca, wanted(t, "web"), ca.Cert.NotAfter.Add(-time.Hour))
		require.NoError(t, err)
		assert.Equal(t, ca.Cert.NotAfter, late.Cert.NotAfter)
		_, err = Issue(ca, wanted(t, "web"), ca.Cert.NotAfter)
		require.ErrorContains(t, err, "the CA test has expired at")
	})
	t.Run("a long common name is cut off", func(t *testing.T) {
		long, err := Issue(ca, Want{CommonName: strings.Repeat("n", 80), Life: year}, day(0))
		require.NoError(t, err)
		assert.Len(t, long.Cert.Subject.CommonName, 64)
	})
}

// foreignCA returns a CA as another program makes it, with a key of RSA.
func foreignCA(t *testing.T, template x509.Certificate) (certPEM, keyPEM []byte) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	template.SerialNumber, template.Subject = big.NewInt(1), pkix.Name{CommonName: "foreign"}
	template.NotBefore, template.NotAfter = day(0), day(3650)
	raw, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	require.NoError(t, err)
	return certificatePEM(raw), pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
}

func TestParseCA(t *testing.T) {
	t.Parallel()
	ca := newCA(t, day(0))
	other := newCA(t, day(0))
	leaf := newLeaf(t, ca, day(0), "web")
	t.Run("tls 4: a CA that another program made, with RSA and PKCS #1, can issue", func(t *testing.T) {
		t.Parallel()
		foreign, err := ParseCA(foreignCA(t, x509.Certificate{IsCA: true, BasicConstraintsValid: true}))
		require.NoError(t, err)
		assert.True(t, signedBy(newLeaf(t, foreign, day(1), "web").Cert, foreign.Cert))
	})
	noSign, noSignKey := foreignCA(t, x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature})
	for reason, row := range map[string]struct{ cert, key, err string }{
		"no certificate":            {"", string(ca.KeyPEM), "certificate: is missing"},
		"no key":                    {string(ca.CertPEM), " \n", "key: is missing"},
		"a certificate without PEM": {"hello", string(ca.KeyPEM), "certificate: is not PEM"},
		"a key without PEM":         {string(ca.CertPEM), "hello", "key: is not PEM"},
		"a key as the certificate":  {string(ca.KeyPEM), string(ca.KeyPEM), "certificate: has a PEM block that is no certificate at position 1"},
		"a certificate as the key":  {string(ca.CertPEM), string(ca.CertPEM), "key: is not a private key of the certificate"},
		"the key of another CA":     {string(ca.CertPEM), string(other.KeyPEM), "key: is not a private key of the certificate"},
		"a damaged certificate":     {strings.Replace(string(ca.CertPEM), "MII", "MIB", 1), string(ca.KeyPEM), "certificate: can't be parsed at position 1"},
		"a truncated certificate":   {string(ca.CertPEM[:100]), string(ca.KeyPEM), "certificate: is not PEM"},
		"a truncated key":           {string(ca.CertPEM), string(ca.KeyPEM[:100]), "key: is not PEM"},
		"a leaf":                    {string(leaf.CertPEM), string(leaf.KeyPEM), "certificate: is not of a CA"},
		"a CA that mayn't sign":     {string(noSign), string(noSignKey), "certificate: its key usage doesn't allow to sign certificates"},
		"a second block is no cert": {string(ca.CertPEM) + string(ca.KeyPEM), string(ca.KeyPEM), "certificate: has a PEM block that is no certificate at position 2"},
	} {
		t.Run("tls 4: "+reason, func(t *testing.T) {
			t.Parallel()
			_, err := ParseCA([]byte(row.cert), []byte(row.key))
			require.EqualError(t, err, row.err)
		})
	}
}

// Whatever is stored, parsing it doesn't panic, and no error repeats it.
func FuzzParseAuthority(f *testing.F) {
	ca, err := NewCA(day(0), "fuzz", year)
	require.NoError(f, err)
	next, err := NewCA(day(0), "fuzz", year)
	require.NoError(f, err)
	cross, err := CrossSign(ca, next, day(0))
	require.NoError(f, err)
	f.Add(ca.CertPEM, ca.KeyPEM, next.CertPEM, next.KeyPEM, []byte(nil), certificatePEM(cross.Raw))
	f.Add(next.CertPEM, next.KeyPEM, []byte(nil), []byte(nil), ca.CertPEM, certificatePEM(cross.Raw))
	f.Add(ca.CertPEM, ca.KeyPEM, ca.CertPEM, ca.KeyPEM, ca.CertPEM, []byte(nil))
	f.Add(ca.CertPEM, []byte("no-key"), []byte(nil), []byte(nil), []byte(nil), []byte(nil))
	f.Add(ca.KeyPEM, ca.CertPEM, []byte("x"), []byte("y"), []byte("z"), []byte("zz"))
	f.Fuzz(func(t *testing.T, cert, key, nextCert, nextKey, previous, cross []byte) {
		data := map[string][]byte{KeyCert: cert, KeyKey: key, keyNextCert: nextCert, keyNextKey: nextKey, keyPrevious: previous, keyCross: cross}
		authority, err := ParseAuthority(data)
		if err == nil {
			again, err := ParseAuthority(authority.Data())
			require.NoError(t, err)
			assert.Equal(t, authority.Stage(), again.Stage())
			assert.Equal(t, authority.Bundle(), again.Bundle())
			assert.Equal(t, authority.Cross, again.Cross)
			return
		}
		for _, secret := range [][]byte{key, nextKey} {
			for line := range strings.Lines(string(secret)) {
				if line = strings.TrimSpace(line); len(line) > 24 {
					assert.NotContains(t, err.Error(), line)
				}
			}
		}
	})
}
