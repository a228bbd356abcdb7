package pki

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	ca, other := newCA(t, day(0)), newCA(t, day(0))
	leaf := newLeaf(t, ca, day(0), "web", "10.0.0.1")
	elsewhere := newLeaf(t, other, day(0), "web", "10.0.0.1", "more")
	wildcard := newLeaf(t, other, day(0), "*.example.com")
	ours := func(p Pair) Stored { return Stored{p.CertPEM, p.KeyPEM, Fingerprint(p.Cert)} }
	byHand := func(p Pair) Stored { return Stored{p.CertPEM, p.KeyPEM, "another"} }
	t.Run("tls 6: by hand, of a CA that is being replaced: it isn't trusted any more when that is over", func(t *testing.T) {
		t.Parallel()
		for _, row := range []struct {
			trusted []Pair
			want    string
		}{{[]Pair{ca}, ""}, {[]Pair{ca, {}, other}, "its CA is being replaced"}} {
			v := Judge(day(1), byHand(elsewhere), wanted(t, "web"), ca, row.trusted)
			assert.Equal(t, row.want, v.Reason)
			assert.True(t, v.ByHand)
		}
	})
	for reason, row := range map[string]struct {
		stored  Stored
		names   []string
		now     time.Time
		want    string
		foreign bool
	}{
		"tls 5: it is kept":                            {stored: ours(leaf), now: day(1)},
		"tls 5: until two thirds of its life are over": {stored: ours(leaf), now: day(243)},
		"tls 5: then it is replaced":                   {stored: ours(leaf), now: day(244), want: "two thirds of its life have passed"},
		"tls 5: there is none":                         {now: day(1), want: "there is none yet"},
		"tls 5: it has expired":                        {stored: ours(leaf), now: day(366), want: "it has expired at 2031-01-01T00:00:00Z"},
		"tls 5: the clock was wrong":                   {stored: ours(leaf), now: day(-1), want: "it isn't valid before 2029-12-31T23:55:00Z"},
		"tls 5: a name more":                           {stored: ours(leaf), names: []string{"web", "10.0.0.1", "x"}, now: day(1), want: "its names are web, 10.0.0.1, not web, x, 10.0.0.1"},
		"tls 5: a name less":                           {stored: ours(leaf), names: []string{"web"}, now: day(1), want: "its names are web, 10.0.0.1, not web"},
		"tls 5: of a CA that is replaced":              {stored: ours(elsewhere), now: day(1), want: "it is of another CA"},
		"tls 5: no key":                                {stored: Stored{CertPEM: leaf.CertPEM}, now: day(1), want: "key: is missing"},
		"tls 5: the key of another":                    {stored: Stored{CertPEM: leaf.CertPEM, KeyPEM: elsewhere.KeyPEM}, now: day(1), want: "key: is not a private key of the certificate"},
		"tls 6: by hand, valid for the names":          {stored: byHand(elsewhere), now: day(1), foreign: true},
		"tls 6: by hand, of this CA":                   {stored: byHand(leaf), names: []string{"web"}, now: day(1)},
		"tls 6: by hand, a wildcard":                   {stored: byHand(wildcard), names: []string{"a.example.com", "*.example.com"}, now: day(1), foreign: true},
		"tls 6: by hand, another host":                 {stored: byHand(wildcard), names: []string{"web", "10.0.0.1", "a.example.com"}, now: day(1), want: "it isn't valid for web, 10.0.0.1"},
		"tls 6: by hand, late in its life":             {stored: byHand(elsewhere), now: day(300), want: "two thirds of its life have passed"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			names := row.names
			if names == nil {
				names = []string{"web", "10.0.0.1"}
			}
			v := Judge(row.now, row.stored, wanted(t, names...), ca, []Pair{ca, {}})
			assert.Equal(t, row.want, v.Reason)
			assert.Equal(t, row.foreign, v.Foreign != "")
			if v.Reason == "" {
				assert.Equal(t, row.stored.CertPEM, v.Pair.CertPEM)
				assert.Equal(t, day(0).Add(-5*time.Minute).Add((year+5*time.Minute)/3*2), v.Until)
			}
		})
	}
}
