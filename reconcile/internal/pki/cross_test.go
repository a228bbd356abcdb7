package pki

import (
	"crypto/x509"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDigest(t *testing.T) {
	t.Parallel()
	changes := func(digests func(holding) string, all []holding) (at []string) {
		for i := range all[1:] {
			if digests(all[i]) != digests(all[i+1]) {
				at = append(at, all[i+1].state)
			}
		}
		return at
	}
	leaf, bundle := func(h holding) string { return h.digest }, func(h holding) string { return h.bundleDigest }
	t.Run("tls 30: the digest changes once in a replacement, when the new CA issues", func(t *testing.T) {
		t.Parallel()
		all := states(t, 1)
		assert.Equal(t, []string{"reissuing"}, changes(leaf, all))
		assert.Equal(t, []string{"reissuing"}, changes(bundle, all))
	})
	t.Run("tls 31: without a cross-certificate it changes when the new CA becomes trusted, too", func(t *testing.T) {
		t.Parallel()
		all := states(t, 0)
		assert.Equal(t, []string{"trusting", "reissuing"}, changes(leaf, all))
		assert.Equal(t, []string{"trusting"}, changes(bundle, all), "a program without a certificate needs no other one")
	})
	t.Run("tls 32: it changes with the leaf, and is the same for the same leaf", func(t *testing.T) {
		t.Parallel()
		a := Authority{Current: newCA(t, day(0))}
		one, other := newLeaf(t, a.Current, day(1), "web"), newLeaf(t, a.Current, day(1), "web")
		assert.Equal(t, a.Digest(one.Cert.Raw), a.Digest(one.Cert.Raw))
		assert.NotEqual(t, a.Digest(one.Cert.Raw), a.Digest(other.Cert.Raw))
		assert.NotEqual(t, a.Digest(one.Cert.Raw), a.Digest(nil))
		assert.Len(t, a.Digest(nil), 32)
	})
}

func TestCross(t *testing.T) {
	t.Parallel()
	old := newCA(t, day(0))
	a, _, err := Authority{Current: old}.Advance(day(1), "test", true, times)
	require.NoError(t, err)
	t.Run("tls 30: the cross-certificate is of the new CA, by the old one, and valid while both are", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, a.Next.Cert.RawSubject, a.Cross.RawSubject)
		assert.Equal(t, a.Next.Cert.SubjectKeyId, a.Cross.SubjectKeyId)
		assert.Equal(t, old.Cert.SubjectKeyId, a.Cross.AuthorityKeyId)
		assert.Equal(t, a.Next.Cert.PublicKey, a.Cross.PublicKey)
		assert.Equal(t, old.Cert.NotAfter, a.Cross.NotAfter)
		assert.Equal(t, day(1).Add(-skew), a.Cross.NotBefore)
		assert.True(t, a.Cross.MaxPathLenZero)
		assert.True(t, a.Cross.IsCA)
		late, err := CrossSign(a.Next, old, day(1))
		require.NoError(t, err)
		assert.Equal(t, old.Cert.NotAfter, late.NotAfter, "of a CA that expires before the one that signs")
	})
	t.Run("tls 31: a CA that mayn't sign others, or has expired, signs none", func(t *testing.T) {
		t.Parallel()
		cross, err := CrossSign(caOf(t, 0), old, day(1))
		require.NoError(t, err)
		assert.Nil(t, cross)
		cross, err = CrossSign(old, a.Next, old.Cert.NotAfter)
		require.NoError(t, err)
		assert.Nil(t, cross)
		any, err := ParseCA(foreignCA(t, x509.Certificate{IsCA: true, BasicConstraintsValid: true}))
		require.NoError(t, err)
		cross, err = CrossSign(any, old, day(1))
		require.NoError(t, err)
		assert.NotNil(t, cross, "without a path length there is no limit")
	})
	t.Run("tls 30: it is in tls.crt while the new CA issues, and gone when the old one is", func(t *testing.T) {
		t.Parallel()
		certs := []int{}
		for _, h := range states(t, 1) {
			certs = append(certs, len(must(ParseCertificates(h.chain))))
		}
		assert.Equal(t, []int{1, 1, 2, 1}, certs)
	})
	for reason, row := range map[string]struct{ cross, err string }{
		"no certificate":  {"hello", "cross.crt: is not PEM"},
		"of the old CA":   {string(old.CertPEM), "cross.crt: isn't the certificate of the new CA, signed by the old one"},
		"by the new CA":   {string(a.Next.CertPEM), "cross.crt: isn't the certificate of the new CA, signed by the old one"},
		"of another CA":   {string(certificatePEM(must(CrossSign(old, newCA(t, day(0)), day(1))).Raw)), "cross.crt: isn't the certificate of the new CA, signed by the old one"},
		"an empty one":    {"", "cross.crt: is missing"},
		"the right one":   {string(certificatePEM(a.Cross.Raw)), ""},
		"another one too": {string(certificatePEM(must(CrossSign(old, a.Next, day(2))).Raw)), ""},
	} {
		t.Run("tls 19: a stored cross-certificate: "+reason, func(t *testing.T) {
			t.Parallel()
			reissuing, _, err := a.Advance(a.Latest(), "test", true, times)
			require.NoError(t, err)
			for _, of := range []Authority{a, reissuing} {
				data := of.Data()
				data[keyCross] = []byte(row.cross)
				_, err := ParseAuthority(data)
				if row.err == "" {
					require.NoError(t, err)
					continue
				}
				require.EqualError(t, err, row.err)
			}
		})
	}
}
