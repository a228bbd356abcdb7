package pki

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTrust(t *testing.T) {
	t.Parallel()
	first, second := newCA(t, day(0)), newCA(t, day(10))
	join := func(texts ...[]byte) []byte { return bytes.Join(texts, []byte("text between\n")) }
	for reason, row := range map[string]struct {
		at    time.Time
		texts [][]byte
		want  []byte
		until time.Time
	}{
		"nothing":                            {day(20), nil, nil, time.Time{}},
		"each once, in their order":          {day(20), [][]byte{join(second.CertPEM, first.CertPEM), first.CertPEM}, slices.Concat(second.CertPEM, first.CertPEM), first.Cert.NotAfter},
		"without one that has expired":       {first.Cert.NotAfter, [][]byte{join(first.CertPEM, second.CertPEM)}, second.CertPEM, second.Cert.NotAfter},
		"without a key":                      {day(20), [][]byte{join(first.KeyPEM, first.CertPEM)}, first.CertPEM, first.Cert.NotAfter},
		"without what can't be parsed":       {day(20), [][]byte{[]byte("hello"), bytes.Replace(first.CertPEM, []byte("MII"), []byte("MIB"), 1), second.CertPEM}, second.CertPEM, second.Cert.NotAfter},
		"a text that was cut off is nothing": {day(20), [][]byte{first.CertPEM[:100]}, nil, time.Time{}},
	} {
		t.Run("tls 52, 53, 55: "+reason, func(t *testing.T) {
			t.Parallel()
			bundle, until := Trust(row.at, row.texts...)
			assert.Equal(t, string(row.want), string(bundle))
			assert.Equal(t, row.until, until)
		})
	}
}

// Whatever a ConfigMap has, only certificates that are valid stay, and what stays doesn't change again.
func FuzzTrust(f *testing.F) {
	ca, err := NewCA(day(0), "fuzz", year)
	require.NoError(f, err)
	f.Add(ca.CertPEM, ca.KeyPEM)
	f.Add([]byte("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"), ca.CertPEM)
	f.Fuzz(func(t *testing.T, a, b []byte) {
		bundle, until := Trust(day(1), a, b)
		again, later := Trust(day(1), bundle)
		assert.Equal(t, string(bundle), string(again))
		assert.Equal(t, until, later)
		assert.NotContains(t, string(bundle), "PRIVATE KEY")
		if len(bundle) > 0 {
			certs, err := ParseCertificates(bundle)
			require.NoError(t, err)
			for _, cert := range certs {
				assert.True(t, cert.NotAfter.After(day(1)))
			}
		}
	})
}
