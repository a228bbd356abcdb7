package pki

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseNames(t *testing.T) {
	t.Parallel()
	label := strings.Repeat("a", 63)
	for reason, row := range map[string]struct {
		names []string
		want  string
		err   string
	}{
		"tls 1: hosts and IP addresses are told apart":    {names: []string{"web", "10.0.0.1", "::1"}, want: "web, 10.0.0.1, ::1"},
		"tls 1: sorted, each once, in lower case":         {names: []string{"b", "A", "b.", "10.0.0.2", "10.0.0.1"}, want: "a, b, 10.0.0.1, 10.0.0.2"},
		"tls 1: an IPv6 address in brackets, and mapped":  {names: []string{"[2001:db8::1]", "::ffff:10.0.0.1"}, want: "10.0.0.1, 2001:db8::1"},
		"tls 1: a wildcard":                               {names: []string{"*.Example.com"}, want: "*.example.com"},
		"tls 1: a label of 63 characters":                 {names: []string{label + ".svc"}, want: label + ".svc"},
		"a name in ASCII form":                            {names: []string{"xn--bcher-kva.example"}, want: "xn--bcher-kva.example"},
		"no names, for a client":                          {want: "none"},
		"tls 2: a name beyond ASCII":                      {names: []string{"bücher.example"}, err: `"bücher.example": the name has characters beyond ASCII: write its ASCII form, which begins with xn--`},
		"tls 2: a label of 64 characters":                 {names: []string{label + "a.svc"}, err: `the label ` + label + `a has 64 characters: at most 63 are allowed`},
		"tls 2: more than 253 characters":                 {names: []string{strings.Repeat(label+".", 4)}, err: "the name has 255 characters: at most 253 are allowed"},
		"tls 2: a wildcard in the middle":                 {names: []string{"a.*.com"}, err: "a wildcard is allowed only as the whole first label"},
		"tls 2: a wildcard in a label":                    {names: []string{"a*.example.com"}, err: "a wildcard is allowed only as the whole first label"},
		"tls 2: a wildcard over a whole top-level domain": {names: []string{"*.com"}, err: "a wildcard needs a domain of two labels at least"},
		"tls 2: an empty name":                            {names: []string{""}, err: `"": the name is empty`},
		"tls 2: an empty label":                           {names: []string{"a..b"}, err: "two dots without a label between them"},
		"tls 2: a dash at the end":                        {names: []string{"a-.b"}, err: "the label a- begins or ends with a dash"},
		"tls 2: a space, a port, a path":                  {names: []string{"a b", "a:443", "a/b"}, err: `"a/b": the label "a/b" has characters other than`},
		"tls 2: an address with a zone":                   {names: []string{"fe80::1%eth0"}, err: "an IP address in a certificate has no zone: remove %eth0"},
		"tls 2: all that is wrong is named":               {names: []string{"ok", "-", ""}, err: "the label - begins or ends with a dash\n\"\": the name is empty"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			names, err := ParseNames(row.names)
			if row.err != "" {
				require.ErrorContains(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, names.String())
		})
	}
}

// A certificate for names that were accepted can be issued and parsed, and is valid for each of them.
func FuzzParseNames(f *testing.F) {
	for _, seed := range []string{"web", "*.example.com", "10.0.0.1 ::1", "bücher", strings.Repeat("a", 63) + ".x", "A. a", "_dmarc.x", "1.2.3"} {
		f.Add(seed)
	}
	ca, err := NewCA(day(0), "fuzz", year)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		names, err := ParseNames(strings.Fields(text))
		if err != nil {
			return
		}
		assert.True(t, slices.IsSorted(names.Hosts))
		assert.True(t, slices.IsSortedFunc(names.IPs, netip.Addr.Compare))
		leaf, err := Issue(ca, Want{CommonName: text, Names: names, Life: year}, day(0))
		require.NoError(t, err)
		assert.Empty(t, uncovered(leaf.Cert, names))
		assert.Empty(t, difference(leaf.Cert, names))
		again, err := ParseNames(append(slices.Clone(names.Hosts), strings.Fields(strings.ReplaceAll(Names{IPs: names.IPs}.String(), ",", " "))...))
		if len(names.IPs) > 0 {
			require.NoError(t, err)
			assert.Equal(t, names, again)
		}
	})
}
