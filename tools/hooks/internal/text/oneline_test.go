package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/operkit/operkit/tools/hooks/internal/text"
)

func TestOneLine(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"": "", "a": "a", " a\n\tb ": "a b", "\x1b[31mred\x00": "[31mred", "12345678901": "1234567890...", "123456789ä": "123456789...",
	} {
		assert.Equal(t, want, text.OneLine(from, 10), "%q", from)
	}
}

func FuzzOneLine(f *testing.F) {
	f.Add("a\nb\xff", 3)
	f.Fuzz(func(t *testing.T, from string, longest int) {
		got := text.OneLine(from, max(longest, 0))
		assert.True(t, utf8.ValidString(got))
		assert.False(t, strings.ContainsAny(got, "\n\r\x00\x1b"), got)
	})
}
