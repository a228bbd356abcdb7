package vcs

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Which expression is wrong, and where.
func TestExpressionsThatAreWrong(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ text, want string }{
		{`v(1`, `tag expression 2, "v(1": missing closing )`},
		{`ä[z-a]b`, `tag expression 2, "ä[z-a]b": invalid character class range: "z-a", at character 3`},
		{`a**`, `tag expression 2, "a**": invalid nested repetition operator: "**", at character 2`},
		{`1)|(2`, `tag expression 2, "1)|(2": unexpected )`},
		{`(?!rc)1`, `tag expression 2, "(?!rc)1": invalid or unsupported Perl syntax: "(?!", at character 1`},
		{`a\y`, `tag expression 2, "a\\y": invalid escape sequence: "\\y", at character 2`},
		{"a\xff", `tag expression 2, "a\xff": invalid UTF-8: "\xff", at character 2`},
		{`x{1001}`, `tag expression 2, "x{1001}": invalid repeat count: "{1001}", at character 2`},
	} {
		_, err := expressions("tag", []string{"ok", row.text}, false)
		assert.EqualError(t, err, row.want, row.text)
	}
}

func FuzzExpressions(f *testing.F) {
	for _, seed := range [][2]string{{`v?\d+\.\d+`, "v1.2"}, {`\Qa.b`, "a.b"}, {`a|b`, "ab"}, {`(?i)x`, "X"}, {`a*?`, "aa"}, {`(?m)^a$`, "a"}, {`[^x]\z`, "a"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		whole, err := expressions("tag", []string{text}, false)
		if err != nil {
			return
		}
		beginning, err := expressions("tag", []string{text}, true)
		require.NoError(t, err)
		plain, err := regexp.Compile(text)
		require.NoError(t, err, "what regexp refuses is refused")
		plain.Longest()
		found := plain.FindStringIndex(name)
		assert.Equal(t, found != nil && found[0] == 0 && found[1] == len(name), matches(whole, name), "%q %q", text, name)
		assert.Equal(t, found != nil && found[0] == 0, matches(beginning, name), "%q %q", text, name)
	})
}
