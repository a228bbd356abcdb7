package vcs

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSupportedVersions(t *testing.T) {
	t.Parallel()
	g, first, second := released(t)
	g.git("update-ref", "refs/remotes/origin/9.9.9", string(first))
	g.git("tag", "7.0.0", "HEAD^{tree}")
	g.git("branch", "1.0.0", string(second))
	for _, tag := range []string{"v1.10.0", "1.9.0", "v1.9.0", "1.10.0-rc1", "v2", "nightly"} {
		g.git("tag", tag)
	}
	g.git("branch", "3.0")
	g.git("branch", "2.0.0")
	for _, row := range []struct {
		reason string
		kinds  []Kind
		want   string
	}{
		{
			"vcs 8, 9: numbers, ascending, once each; W11: no remote branch, no branch that is none", nil,
			"1.0.0=refs/tags/1.0.0 1.1.0=refs/tags/1.1.0 1.9.0=refs/tags/1.9.0 1.10.0-rc1=refs/tags/1.10.0-rc1 1.10.0=refs/tags/v1.10.0 2.0.0=refs/tags/v2 3.0.0=refs/heads/3.0",
		},
		{
			"W11: tags only", []Kind{Tag},
			"1.0.0=refs/tags/1.0.0 1.1.0=refs/tags/1.1.0 1.9.0=refs/tags/1.9.0 1.10.0-rc1=refs/tags/1.10.0-rc1 1.10.0=refs/tags/v1.10.0 2.0.0=refs/tags/v2",
		},
	} {
		t.Run(row.reason, func(t *testing.T) {
			versions, err := g.open().SupportedVersions(t.Context(), row.kinds...)
			require.NoError(t, err)
			got := ""
			for _, one := range versions {
				got += fmt.Sprintf(" %s=%s", one, one.Ref.Full)
			}
			assert.Equal(t, " "+row.want, got)
		})
	}
}

func TestSupportedVersionsOfAnotherKind(t *testing.T) {
	t.Parallel()
	g, _, _ := released(t)
	for _, kind := range []Kind{Remote, Other, "comet"} {
		versions, err := g.open().SupportedVersions(t.Context(), Tag, kind)
		assert.Empty(t, versions)
		var config *ConfigError
		require.ErrorAs(t, err, &config)
		assert.EqualError(t, config.Err, fmt.Sprintf("kind %q: only tags and branches can be versions: use tag or branch", kind))
	}
}

func TestCanonicalVersion(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, text, want string }{
		{"a number", "1.2.3", "1.2.3"}, {"with its letter", "v1.2.3", "1.2.3"}, {"W11: a number of YAML that became text", "1.0", "1.0.0"},
		{"one part", "7", "7.0.0"}, {"zeros before", "2024.01.05", "2024.1.5"}, {"none but zeros", "000.0", "0.0.0"},
		{"four parts", "1.2.3.4", "1.2.3.4"}, {"four, of which the last is none", "1.2.3.0.0", "1.2.3"},
		{"what comes before it", "v1.0.0-rc.01.x-1", "1.0.0-rc.1.x-1"}, {"which build", "1.0+b.7", "1.0.0+b.7"}, {"both", "1-a+b", "1.0.0-a+b"},
		{"more digits than fit a number", "1.99999999999999999999999.0", "1.99999999999999999999999.0"},
	} {
		got, ok := CanonicalVersion(row.text)
		assert.True(t, ok, row.reason)
		assert.Equal(t, row.want, got, row.reason)
	}
	for _, text := range []string{"", "v", "main", "release/1.2.0", "1..2", "1.2.", ".1", "V1", "vv1", "1.2.x", "1.0-", "1.0-a..b", "1.0+", " 1.0", "1.0\n", "１.0"} {
		_, ok := CanonicalVersion(text)
		assert.False(t, ok, "%q", text)
	}
}

func TestNumbersAreOrdered(t *testing.T) {
	t.Parallel()
	// The order that semver.org gives, with more and fewer parts.
	ordered := []string{
		"0.0.1", "0.9.9-rc1", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",
		"1.0.0", "1.0.0+a", "1.0.0+b", "1.0.0.1", "1.0.1", "1.2.0", "1.10.0", "2", "10.0.0",
	}
	for i, a := range ordered {
		for j, b := range ordered {
			one, ok := parseNumber(a)
			require.True(t, ok)
			other, ok := parseNumber(b)
			require.True(t, ok)
			switch got := one.compare(other); {
			case i < j:
				assert.Negative(t, got, "%s before %s", a, b)
			case i > j:
				assert.Positive(t, got, "%s after %s", a, b)
			default:
				assert.Zero(t, got)
			}
		}
	}
}

func FuzzCanonicalVersion(f *testing.F) {
	for _, seed := range [][2]string{{"1.2.3", "v1.2"}, {"1.0.0-rc.1", "1-rc.01+b"}, {"1.0-a.-", "main"}, {"1.2.3.0", "01.2.3"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		one, ok := parseNumber(a)
		if !ok {
			return
		}
		again, ok := parseNumber(one.String())
		require.True(t, ok || len(one.String()) > maxName, "%q", one.String())
		if ok {
			assert.Equal(t, one, again, "what is canonical stays")
		}
		other, ok := parseNumber(b)
		if !ok {
			return
		}
		assert.Equal(t, one.compare(other), -other.compare(one))
		assert.Equal(t, one.String() == other.String(), one.compare(other) == 0, "only what is the same is equal")
	})
}
