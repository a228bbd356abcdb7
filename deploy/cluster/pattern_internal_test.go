package cluster

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInScope(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		patterns []string
		in, out  []string
	}{
		"none: all":                         {nil, []string{"a", "kube-system"}, nil},
		"a name is itself":                  {[]string{"shop"}, []string{"shop"}, []string{"shop-a", "a"}},
		"a pattern":                         {[]string{"team-*"}, []string{"team-a", "team-"}, []string{"team", "a-team-a"}},
		"one letter":                        {[]string{"team-?"}, []string{"team-a"}, []string{"team-", "team-ab"}},
		"a name and a pattern":              {[]string{"shop", "team-*"}, []string{"shop", "team-a"}, []string{"bank"}},
		"an exception":                      {[]string{"team-*", "!team-b"}, []string{"team-a"}, []string{"team-b", "shop"}},
		"an exception first: all but those": {[]string{"!kube-*"}, []string{"shop"}, []string{"kube-system"}},
		"the last that matches decides":     {[]string{"app-*", "!*-pr-*", "app-pr-123"}, []string{"app-a", "app-pr-123"}, []string{"app-pr-1", "b"}},
		"the order counts":                  {[]string{"app-pr-123", "!*-pr-*"}, nil, []string{"app-pr-123"}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			for _, pattern := range row.patterns {
				_, err := NamespacePattern(pattern)
				require.NoError(t, err)
			}
			for _, name := range row.in {
				assert.True(t, inScope(row.patterns, name), name)
			}
			for _, name := range row.out {
				assert.False(t, inScope(row.patterns, name), name)
			}
		})
	}
}

func TestNamespacePattern(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"shop": false, "team-1": false, "*": true, "team-*": true, "team-?": true, "team-[a-c]": true, "!shop": true, "!team-*": true, "*-prod": true,
	} {
		isPattern, err := NamespacePattern(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, isPattern, text)
	}
	for text, want := range map[string]string{
		"":         "neither a name nor a pattern: use something like team-*",
		"!":        "neither a name nor a pattern: use something like team-*",
		"team-[":   "neither a name nor a pattern: use something like team-*",
		"[a-":      "neither a name nor a pattern: use something like team-*",
		"No Where": "a lowercase RFC 1123 label must consist of",
		"Team-*":   "a lowercase RFC 1123 label must consist of",
		"!a_b*":    "a lowercase RFC 1123 label must consist of",
	} {
		_, err := NamespacePattern(text)
		require.ErrorContains(t, err, want, text)
		assert.ErrorContains(t, err, fmt.Sprintf("namespace %q: ", text))
	}
}
