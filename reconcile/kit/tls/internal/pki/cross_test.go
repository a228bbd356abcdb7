package pki

import (
	"crypto/x509"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// holding is what a program holds that has read its Secret in a state of the replacement of a CA.
type holding struct {
	state         string
	chain, bundle []byte
	digest        string
	// bundleDigest is the digest of a program without a certificate.
	bundleDigest string
}

// caOf returns a CA with a path length.
func caOf(t *testing.T, pathLength int) Pair {
	t.Helper()
	if pathLength > 0 {
		return newCA(t, day(0))
	}
	ca, err := ParseCA(foreignCA(t, x509.Certificate{IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign}))
	require.NoError(t, err)
	return ca
}

// states returns what programs hold in each state of a replacement, in their order. pathLength is that of the old CA.
func states(t *testing.T, pathLength int) []holding {
	t.Helper()
	old := caOf(t, pathLength)
	a := Authority{Current: old}
	leaf := newLeaf(t, old, day(1), "web")
	var all []holding
	for _, state := range []string{"old", "trusting", "reissuing", "new"} {
		if a.Stage() == Reissuing && state == "reissuing" {
			leaf = newLeaf(t, a.Current, day(2), "web")
		}
		all = append(all, holding{state, a.Chain(leaf), a.Bundle(), a.Digest(leaf.Cert.Raw), a.Digest(nil)})
		next, changed, err := a.Advance(day(2), "test", true, times)
		require.NoError(t, err)
		require.True(t, changed)
		a, _ = next.MarkSpread(day(1))
	}
	return all
}

// firstOnly is a program that presents the first certificate of tls.crt alone.
func (h holding) firstOnly(t *testing.T) holding {
	t.Helper()
	certs, err := ParseCertificates(h.chain)
	require.NoError(t, err)
	h.chain = certificatePEM(certs[0].Raw)
	return h
}

// byGo verifies what presenter presents, as Go does it.
func (h holding) byGo(t *testing.T, presenter holding) error { return h.byGoAt(t, presenter, day(3)) }

func (h holding) byGoAt(t *testing.T, presenter holding, now time.Time) error {
	t.Helper()
	certs, err := ParseCertificates(presenter.chain)
	require.NoError(t, err)
	roots, rest := x509.NewCertPool(), x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(h.bundle))
	for _, cert := range certs[1:] {
		rest.AddCert(cert)
	}
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		if _, err := certs[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: rest, DNSName: "web", CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{usage}}); err != nil {
			return err
		}
	}
	return nil
}

// byOpenSSL verifies what presenter presents, as a program with OpenSSL does it.
func (h holding) byOpenSSL(t *testing.T, openssl, purpose string, presenter holding, options ...string) error {
	t.Helper()
	dir := t.TempDir()
	bundle, chain := filepath.Join(dir, "ca.crt"), filepath.Join(dir, "tls.crt")
	require.NoError(t, os.WriteFile(bundle, h.bundle, 0o600))
	require.NoError(t, os.WriteFile(chain, presenter.chain, 0o600))
	arguments := slices.Concat([]string{"verify", "-x509_strict", "-no-CApath", "-no-CAstore", "-attime", fmt.Sprint(day(3).Unix()), "-purpose", purpose,
		"-verify_hostname", "web", "-CAfile", bundle, "-untrusted", chain}, options, []string{chain})
	out, err := exec.CommandContext(t.Context(), openssl, arguments...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// Who trusts whom, for each two states in which programs have read their Secrets: as Go sees it, and the openssl that is
// installed, if there is one.
func TestStatesTrustEachOther(t *testing.T) {
	t.Parallel()
	const yes, no = true, false
	openssl, _ := exec.LookPath("openssl")
	for _, world := range []struct {
		rule       string
		pathLength int
		firstOnly  bool
		// trusts has a row for each state of the program that verifies, and in it each state of the one that presents.
		trusts [4][4]bool
	}{
		{
			rule: "tls 30: a program that was started before the replacement trusts the leaves of the new CA by the chain", pathLength: 1,
			trusts: [4][4]bool{
				{yes, yes, yes, no}, // the old CA is known
				{yes, yes, yes, yes},
				{yes, yes, yes, yes},
				{no, no, yes, yes}, // the new CA is known
			},
		},
		{
			rule: "tls 31: without a cross-certificate it doesn't, so that it is restarted before", pathLength: 0,
			trusts: [4][4]bool{{yes, yes, no, no}, {yes, yes, yes, yes}, {yes, yes, yes, yes}, {no, no, yes, yes}},
		},
		{
			rule: "tls 30: programs that present the first certificate of tls.crt alone aren't trusted by it", pathLength: 1, firstOnly: true,
			trusts: [4][4]bool{{yes, yes, no, no}, {yes, yes, yes, yes}, {yes, yes, yes, yes}, {no, no, yes, yes}},
		},
	} {
		t.Run(world.rule, func(t *testing.T) {
			t.Parallel()
			all := states(t, world.pathLength)
			for i, verifier := range all {
				for j, presenter := range all {
					if world.firstOnly {
						presenter = presenter.firstOnly(t)
					}
					name := verifier.state + " verifies " + presenter.state
					check := func(who string, err error) {
						assert.Equal(t, world.trusts[i][j], err == nil, "%s: %s: %v", who, name, err)
					}
					check("Go", verifier.byGo(t, presenter))
					if openssl == "" {
						continue
					}
					for _, purpose := range []string{"sslserver", "sslclient"} {
						check("OpenSSL", verifier.byOpenSSL(t, openssl, purpose, presenter))
						check("OpenSSL with partial chains", verifier.byOpenSSL(t, openssl, purpose, presenter, "-partial_chain"))
					}
				}
			}
		})
	}
}

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
