package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestSummary(t *testing.T) {
	t.Parallel()
	lines := summary([]row{
		{step: "control plane", took: 3100 * time.Millisecond},
		{step: "create", took: 333 * time.Millisecond, counted: true, reads: 2, writes: 14},
		{step: "stop operator", took: 4 * time.Millisecond, counted: true},
		{step: "delete", took: 75 * time.Second, counted: true, writes: 3},
	})
	assert.Equal(t, []string{
		"step                     seconds   API reads   API writes",
		"---------------------------------------------------------",
		" 1  control plane           3.10           -            -",
		" 2  create                  0.33           2           14",
		" 3  stop operator           0.00           0            0",
		" 4  delete                 75.00           0            3",
		"---------------------------------------------------------",
		"    total                  78.44           2           17",
	}, lines)
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		reason  string
		text    string
		columns int
		want    string
	}{
		{"it fits", "abcdef", 6, "abcdef"},
		{"it doesn't", "abcdefg", 6, "abcd.."},
		{"no room for the dots", "abcdefg", 2, "ab"},
		{"no room", "abcdefg", 0, ""},
		{"less than none", "abcdefg", -3, ""},
		{"characters, not bytes", "ääää", 4, "ääää"},
		{"what moves the cursor doesn't get through", "a\nb\x1b[2Jc", 9, "a b [2Jc"},
	} {
		assert.Equal(t, test.want, cut(test.text, test.columns), test.reason)
	}
}
