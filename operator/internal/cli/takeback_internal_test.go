package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestConfirmed(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]bool{
		"y\n": true, "yes\n": true, "Y\n": true, " yes \n": true, "y": true, "n\n": false, "\n": false, "": false, "yesterday\n": false,
	} {
		var asked bytes.Buffer
		assert.Equal(t, want, confirmed(strings.NewReader(answer), &asked, "Sure? "), "%q", answer)
		assert.Equal(t, "Sure? ", asked.String())
	}
}
