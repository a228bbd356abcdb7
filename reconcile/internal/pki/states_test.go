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
		"-verify_hostname", "web", "-verify_depth", "1", "-CAfile", bundle, "-untrusted", chain}, options, []string{chain})
	out, err := exec.CommandContext(t.Context(), openssl, arguments...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// Who trusts whom, for each two states in which programs have read their Secrets: as Go sees it, and the openssl that
// is installed, if there is one.
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
