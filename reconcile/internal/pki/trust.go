package pki

import (
	"crypto/x509"
	"encoding/pem"
	"time"
)

// Trust joins CAs into one PEM text, each once, in their order, and leaves out those that have expired. until is the
// time at which the next one expires; zero if there is none. What can't be parsed is left out: of texts that were
// written by others, all that can be used is trusted.
func Trust(now time.Time, texts ...[]byte) (bundle []byte, until time.Time) {
	var pairs []Pair
	for _, text := range texts {
		for {
			var block *pem.Block
			if block, text = pem.Decode(text); block == nil {
				break
			}
			cert, err := x509.ParseCertificate(block.Bytes)
			if err != nil || block.Type != certificateBlock || !now.Before(cert.NotAfter) {
				continue
			}
			pairs = append(pairs, Pair{Cert: cert})
			if until.IsZero() || cert.NotAfter.Before(until) {
				until = cert.NotAfter
			}
		}
	}
	return Bundle(pairs...), until
}

// Uncovered says for which of the names a certificate isn't valid; it is empty if there are none.
func Uncovered(cert *x509.Certificate, names Names) string { return uncovered(cert, names) }
