package pki

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Stored is a leaf as it was read. The zero value means that there is none.
type Stored struct {
	CertPEM, KeyPEM []byte
	// Issued is the Fingerprint of the certificate that was issued last. A certificate with another fingerprint was
	// stored by somebody else.
	Issued string
}

// Verdict is the decision about a stored leaf.
type Verdict struct {
	// Reason is why a new leaf has to be issued; empty if the stored one is kept.
	Reason string
	// Pair is the leaf that is kept, and Until the time at which it is to be judged again.
	Pair  Pair
	Until time.Time
	// Foreign is the name of the CA that issued the kept certificate, if no CA of the bundle issued it.
	Foreign string
	// ByHand: the stored certificate isn't the one that was issued last.
	ByHand bool
}

// Judge decides whether a stored leaf is kept. A leaf that was issued here is kept while it is a leaf of the CA issuer
// with exactly the names wanted, before two thirds of its life have passed. A leaf that somebody else has stored is
// kept while it is valid for the names wanted, whoever issued it, except a CA of trusted that isn't the issuer any
// more; of its life, too, two thirds count.
func Judge(now time.Time, stored Stored, want Want, issuer Pair, trusted []Pair) Verdict {
	if len(bytes.TrimSpace(stored.CertPEM)) == 0 && len(bytes.TrimSpace(stored.KeyPEM)) == 0 {
		return Verdict{Reason: "there is none yet"}
	}
	v := Verdict{}
	pair, err := ParsePair(stored.CertPEM, stored.KeyPEM)
	if err != nil {
		v.ByHand, v.Reason = true, err.Error()
		return v
	}
	v.ByHand = Fingerprint(pair.Cert) != stored.Issued
	due := Due(pair.Cert)
	switch cert := pair.Cert; {
	case now.Before(cert.NotBefore):
		v.Reason = "it isn't valid before " + stamp(cert.NotBefore)
	case !now.Before(cert.NotAfter):
		v.Reason = "it has expired at " + stamp(cert.NotAfter)
	case !now.Before(due):
		v.Reason = "two thirds of its life have passed"
	case v.ByHand && slices.ContainsFunc(trusted, func(ca Pair) bool { return ca.Cert != nil && !ca.Cert.Equal(issuer.Cert) && signedBy(cert, ca.Cert) }):
		v.Reason = "its CA is being replaced"
	case v.ByHand:
		v.Reason = uncovered(cert, want.Names)
	case !signedBy(cert, issuer.Cert):
		v.Reason = "it is of another CA"
	default:
		v.Reason = difference(cert, want.Names)
	}
	if v.Reason != "" {
		return v
	}
	v.Pair, v.Until = pair, due
	if !slices.ContainsFunc(trusted, func(ca Pair) bool { return ca.Cert != nil && signedBy(pair.Cert, ca.Cert) }) {
		v.Foreign = pair.Cert.Issuer.String()
	}
	return v
}

// Due returns the time at which a certificate is replaced: when two thirds of its life have passed.
func Due(cert *x509.Certificate) time.Time {
	life := cert.NotAfter.Sub(cert.NotBefore)
	return cert.NotBefore.Add(life / 3 * 2)
}

// Fingerprint identifies a certificate.
func Fingerprint(cert *x509.Certificate) string {
	sum := sha256.Sum256(cert.Raw)
	return hex.EncodeToString(sum[:16])
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// signedBy reports whether ca has signed cert. The names are compared first, because that is cheap.
func signedBy(cert, ca *x509.Certificate) bool {
	return bytes.Equal(cert.RawIssuer, ca.RawSubject) && cert.CheckSignatureFrom(ca) == nil
}

// uncovered says for which of the names a certificate isn't valid.
func uncovered(cert *x509.Certificate, names Names) string {
	var missing []string
	for _, host := range names.Hosts {
		if covers := cert.VerifyHostname(host) == nil || slices.Contains(cert.DNSNames, host); !covers {
			missing = append(missing, host)
		}
	}
	for _, ip := range names.IPs {
		if cert.VerifyHostname(ip.String()) != nil {
			missing = append(missing, ip.String())
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return "it isn't valid for " + strings.Join(missing, ", ")
}

// difference says how the names of a certificate differ from the names wanted.
func difference(cert *x509.Certificate, names Names) string {
	has := Names{Hosts: slices.Sorted(slices.Values(cert.DNSNames))}
	for _, ip := range cert.IPAddresses {
		if parsed, ok := netip.AddrFromSlice(ip); ok {
			has.IPs = append(has.IPs, parsed.Unmap())
		}
	}
	slices.SortFunc(has.IPs, netip.Addr.Compare)
	if slices.Equal(has.Hosts, names.Hosts) && slices.Equal(has.IPs, names.IPs) {
		return ""
	}
	return fmt.Sprintf("its names are %s, not %s", has, names)
}

// String lists the names.
func (n Names) String() string {
	all := slices.Clone(n.Hosts)
	for _, ip := range n.IPs {
		all = append(all, ip.String())
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

// SignedBy reports whether ca has signed cert.
func SignedBy(cert, ca *x509.Certificate) bool { return cert != nil && ca != nil && signedBy(cert, ca) }
