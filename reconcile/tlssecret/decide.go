package tlssecret

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/reconcile/internal/pki"
)

// wish is what a process needs.
type wish struct {
	// name is the common name of the certificate.
	name  string
	names pki.Names
	life  Life
}

// reason is why the Secret is written. It is a warning if somebody has to know.
type reason struct {
	text string
	warn bool
}

// plan is what the Secret is to be.
type plan struct {
	state state
	// reasons are why it has to be written; none if it is as it is to be.
	reasons []reason
	// renewed: the CA was replaced.
	renewed bool
	// until is when it has to be decided again.
	until time.Time
}

// decision is a plan that is being made.
type decision struct {
	wish
	plan
	now time.Time
	// stored is what was read, never nil. memory is the last state that this process has found in order, nil if there is
	// none.
	stored, memory *state
	// follows: stored comes from memory by steps of a Source.
	follows bool
}

// skew is by how much clocks may differ.
const skew = 5 * time.Minute

// decide returns what the Secret is to be. stored is what was read, nil if there is no Secret, and memory the last
// state that this process has found in order, nil if there is none. renew asks for another CA. It changes nothing.
//
// All of it is one rule: clients that trust the bundle of now, or of the time Wait before, accept what each process
// serves. A new CA issues at once if the one before it signs it, because the certificate is sent with that signature.
// Otherwise it is trusted for the time Wait before it issues.
func (w wish) decide(now time.Time, stored, memory *state, renew bool) (plan, error) {
	d := &decision{wish: w, now: now, stored: stored, memory: memory}
	d.begin()
	d.trust()
	if err := d.issuer(renew); err != nil {
		return plan{}, err
	}
	d.remember()
	if err := d.leaf(); err != nil {
		return plan{}, err
	}
	d.look()
	d.state.forget()
	return d.plan, nil
}

func (d *decision) inform(format string, args ...any) {
	d.reasons = append(d.reasons, reason{text: fmt.Sprintf(format, args...)})
}

func (d *decision) warn(format string, args ...any) {
	d.reasons = append(d.reasons, reason{text: fmt.Sprintf(format, args...), warn: true})
}

// begin takes what is stored.
func (d *decision) begin() {
	switch {
	case !d.stored.empty():
		d.state = d.stored.clone()
	case d.memory != nil:
		d.stored, d.state = d.memory, d.memory.clone()
		d.warn("it was deleted or emptied: what this process still has is stored again")
	case d.stored == nil || d.stored.blank:
		d.stored = &state{}
		d.inform("there is none yet")
	default:
		d.warn("what is stored can't be used: %s: %s", pki.KeyKey, d.stored.faults[pki.KeyKey])
		d.stored = &state{}
	}
	if m := d.memory; m != nil && d.state.book.Issuer == "" && fingerprint(d.state.issuer) == fingerprint(m.issuer) {
		d.state.book = m.clone().book
		d.warn("the annotation that belongs to the certificates was lost: what this process still has is stored again")
	}
	d.follows = d.memory == nil || d.stored.consistent()
	for _, ca := range d.live() {
		d.follows = d.follows && d.stored.trusts(ca)
	}
}

// live returns the CAs in memory of which a process may still serve a certificate, also if clocks differ.
func (d *decision) live() (cas []*x509.Certificate) {
	if d.memory == nil {
		return nil
	}
	for _, ca := range d.memory.bundle {
		if d.now.Add(time.Hour).Before(d.memory.drops(ca)) || within(d.memory.leaf.Cert, d.now) && pki.SignedBy(d.memory.leaf.Cert, ca) {
			cas = append(cas, ca)
		}
	}
	return cas
}

// trust leaves out the CAs that nobody needs any more, and puts those back that are missing.
func (d *decision) trust() {
	bundle := slices.DeleteFunc(d.state.bundle, func(ca *x509.Certificate) bool {
		issues := d.state.issuer.Cert != nil && ca.Equal(d.state.issuer.Cert)
		return !d.now.Before(ca.NotAfter) || !issues && !d.now.Before(d.state.drops(ca))
	})
	if len(bundle) < len(d.stored.bundle) {
		d.inform("a CA has expired, or all certificates of it have")
	}
	d.state.bundle = bundle
	if fault := d.stored.faults[pki.KeyBundle]; fault != "" && len(d.reasons) == 0 {
		d.warn("%s: %s", pki.KeyBundle, fault)
	}
	if d.follows {
		return
	}
	for _, ca := range d.live() {
		if d.state.trusts(ca) {
			continue
		}
		d.state.add(ca)
		if until, known := d.memory.book.Until[pki.Fingerprint(ca)]; known {
			d.state.book.expect(ca, until)
		}
		d.warn("%s lacked the CA %s, which is in use", pki.KeyBundle, pki.Fingerprint(ca)[:8])
	}
}

// issuer sees to a CA that can issue certificates.
func (d *decision) issuer(renew bool) error {
	s := &d.state
	if s.issuer.Cert == nil && d.memory != nil && within(d.memory.issuer.Cert, d.now) {
		s.issuer, s.cross = d.memory.issuer, d.memory.cross
		d.warn("%s: %s: the CA that this process still has is stored again", keyIssuerKey, d.stored.faults[keyIssuerKey])
	}
	switch ca := s.issuer.Cert; {
	case ca == nil:
		if fault := d.stored.faults[keyIssuerKey]; fault != "" {
			d.warn("%s: %s: there is a new CA", keyIssuerKey, fault)
		}
		return d.replace()
	case d.now.Before(ca.NotBefore):
		d.warn("the CA isn't valid before %s: there is a new one", stamp(ca.NotBefore))
		return d.replace()
	case !d.now.Before(ca.NotAfter):
		d.warn("the CA has expired at %s: there is a new one", stamp(ca.NotAfter))
		return d.replace()
	}
	if !s.trusts(s.issuer.Cert) {
		s.add(s.issuer.Cert)
		if s.book.Issuer == fingerprint(s.issuer) {
			d.warn("%s lacked the CA that issues certificates", pki.KeyBundle)
			s.book.Since = d.now
		}
	}
	switch {
	case !d.now.Before(d.authority().Until(d.times())):
		d.inform("two thirds of the life of the CA have passed, or a certificate wouldn't fit into the rest")
		return d.replace()
	case renew && d.waited():
		d.inform("somebody asked for a new CA")
		return d.replace()
	case renew:
		d.consider(s.book.Since.Add(d.life.Wait))
	}
	return nil
}

func (d *decision) authority() pki.Authority { return pki.Authority{Current: d.state.issuer} }
func (d *decision) times() pki.Times {
	return pki.Times{Life: d.life.CA, Leaf: d.life.Leaf, Wait: d.life.Wait}
}

// waited reports whether clients trust the issuer, and none that asks now knows only the CA before the one before it.
func (d *decision) waited() bool {
	return d.state.book.Issuer == fingerprint(d.state.issuer) && !d.now.Before(d.state.book.Since.Add(d.life.Wait))
}

// replace replaces the CA. The one before it, if it can sign, signs the new one.
func (d *decision) replace() (err error) {
	s, old := &d.state, d.state.issuer
	if s.issuer, err = pki.NewCA(d.now, d.name+"-ca", d.life.CA); err != nil {
		return err
	}
	s.cross, d.renewed = nil, true
	if within(old.Cert, d.now) {
		if s.cross, err = pki.CrossSign(old, s.issuer, d.now); err != nil {
			return err
		}
		if _, known := s.book.Until[pki.Fingerprint(old.Cert)]; known {
			s.book.expect(old.Cert, d.now.Add(d.life.Wait))
		}
	}
	s.add(s.issuer.Cert)
	s.book.Issuer, s.book.Since = fingerprint(s.issuer), d.now.UTC().Truncate(time.Second)
	return nil
}

// remember corrects the book after changes by hand.
func (d *decision) remember() {
	s := &d.state
	if s.book.Issuer != fingerprint(s.issuer) {
		s.book.Issuer, s.book.Since = fingerprint(s.issuer), d.now.UTC().Truncate(time.Second)
		d.warn("it isn't known since when clients trust the CA: that counts from now")
	}
	if s.book.Since.After(d.now.Add(skew)) {
		s.book.Since = d.now.UTC().Truncate(time.Second)
		d.warn("the time of the CA is in the future: it counts from now")
	}
	if s.cross != nil && !d.crosses(s.cross) {
		s.cross = nil
	}
}

// crosses reports whether a certificate is one of the issuer, signed by another trusted CA.
func (d *decision) crosses(cross *x509.Certificate) bool {
	ca := d.state.issuer.Cert
	return within(cross, d.now) && bytes.Equal(cross.RawSubject, ca.RawSubject) &&
		bytes.Equal(cross.RawSubjectPublicKeyInfo, ca.RawSubjectPublicKeyInfo) &&
		slices.ContainsFunc(d.state.bundle, func(by *x509.Certificate) bool { return pki.SignedBy(cross, by) })
}

// leaf sees to a certificate that clients accept.
func (d *decision) leaf() error {
	s := &d.state
	if m := d.memory; m != nil && (d.unusable(s.leaf) != "" || !d.follows && !m.verifies(s.leaf, d.now)) && d.unusable(m.leaf) == "" {
		if !bytes.Equal(s.leaf.CertPEM, m.leaf.CertPEM) {
			d.warn("%s isn't accepted by clients: the certificate that this process still has is stored again", pki.KeyCert)
		}
		s.leaf, s.book.Leaf = m.leaf, fingerprint(m.leaf)
	}
	if wrong := d.unusable(s.leaf); wrong != "" {
		if s.leaf.Cert != nil || len(d.reasons) == 0 {
			d.warn("%s: %s", pki.KeyCert, wrong)
		}
		return d.issue()
	}
	ready := pki.SignedBy(s.leaf.Cert, s.issuer.Cert) || s.cross != nil || d.waited()
	if wrong := d.lacking(s.leaf.Cert); wrong != "" && ready {
		d.inform("%s: %s", pki.KeyCert, wrong)
		return d.issue()
	} else if wrong != "" {
		d.consider(s.book.Since.Add(d.life.Wait))
	}
	d.keep()
	return nil
}

// unusable says why no client accepts a certificate.
func (d *decision) unusable(leaf pki.Pair) string {
	switch {
	case leaf.Cert == nil:
		return cmp.Or(d.stored.faults[pki.KeyKey], "there is none yet")
	case d.now.Before(leaf.Cert.NotBefore):
		return "it isn't valid before " + stamp(leaf.Cert.NotBefore)
	case !d.now.Before(leaf.Cert.NotAfter):
		return "it has expired at " + stamp(leaf.Cert.NotAfter)
	case !d.state.verifies(leaf, d.now):
		return "it isn't of a CA in " + pki.KeyBundle + ", or not for servers"
	}
	return ""
}

// lacking says why a certificate that clients accept has to be replaced.
func (d *decision) lacking(cert *x509.Certificate) string {
	switch {
	case pki.Uncovered(cert, d.names) != "":
		return pki.Uncovered(cert, d.names)
	case !pki.SignedBy(cert, d.state.issuer.Cert):
		return "its CA was replaced"
	case !d.now.Before(pki.Due(cert)) && cert.NotAfter.Before(d.state.issuer.Cert.NotAfter):
		return "two thirds of its life have passed"
	}
	return ""
}

// keep puts what belongs to the certificate in order.
func (d *decision) keep() {
	s := &d.state
	if s.book.Leaf != fingerprint(s.leaf) {
		d.warn("%s: a certificate that was stored by hand is kept", pki.KeyCert)
		s.book.Leaf = fingerprint(s.leaf)
	}
	for _, ca := range s.bundle {
		if pki.SignedBy(s.leaf.Cert, ca) && s.drops(ca).Before(s.leaf.Cert.NotAfter) && s.drops(ca).Before(ca.NotAfter) {
			d.warn("the time until which a CA is needed was wrong")
			s.book.expect(ca, s.leaf.Cert.NotAfter)
		}
	}
	if chain := d.chain(s.leaf.Cert); s.cross != nil && pki.SignedBy(s.leaf.Cert, s.issuer.Cert) && !bytes.Contains(s.leaf.CertPEM, chain) {
		d.warn("%s lacked the certificate of the CA that the one before it has signed", pki.KeyCert)
		s.leaf.CertPEM = chain
	}
}

// chain returns what is sent to clients.
func (d *decision) chain(leaf *x509.Certificate) []byte {
	return pki.Bundle(pki.Pair{Cert: leaf}, pki.Pair{Cert: d.state.cross})
}

// issue issues a certificate.
func (d *decision) issue() error {
	s := &d.state
	leaf, err := pki.Issue(s.issuer, pki.Want{CommonName: d.name, Names: d.joined(), Life: d.life.Leaf}, d.now)
	if err != nil {
		return err
	}
	leaf.CertPEM = d.chain(leaf.Cert)
	s.leaf, s.book.Leaf = leaf, fingerprint(leaf)
	s.book.expect(s.issuer.Cert, leaf.Cert.NotAfter)
	return nil
}

// joined returns the names of the process, together with those that other processes have asked for since the last
// renewal: a certificate that isn't due yet was asked for then.
func (d *decision) joined() pki.Names {
	names := d.names
	for _, s := range []*state{&d.state, d.memory} {
		if s == nil || s.leaf.Cert == nil || !d.now.Before(pki.Due(s.leaf.Cert)) || !d.state.verifies(s.leaf, d.now) {
			continue
		}
		all := slices.Concat(strings.Split(names.String(), ", "), s.leaf.Cert.DNSNames)
		for _, ip := range s.leaf.Cert.IPAddresses {
			all = append(all, ip.String())
		}
		if joined, err := pki.ParseNames(all); err == nil {
			names = joined
		}
	}
	return names
}

// look finds out when it has to be decided again.
func (d *decision) look() {
	s := &d.state
	d.consider(pki.Due(s.leaf.Cert))
	d.consider(d.authority().Until(d.times()))
	for _, ca := range s.bundle {
		if !ca.Equal(s.issuer.Cert) {
			d.consider(s.drops(ca))
		}
	}
}

// consider decides again at a time, if it is to come.
func (d *decision) consider(at time.Time) {
	if at.After(d.now) && (d.until.IsZero() || at.Before(d.until)) {
		d.until = at
	}
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }
