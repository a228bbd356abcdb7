package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDownloads(t *testing.T) {
	t.Parallel()
	var progress strings.Builder
	d := &downloads{progress: &progress}
	for _, part := range []string{"go: down", "loading a v1\ngo: added b v1\n", "go: downloading c v1\n", "go: no such", " module"} {
		n, err := d.Write([]byte(part))
		require.NoError(t, err)
		assert.Equal(t, len(part), n)
	}
	assert.Equal(t, "go: downloading a v1\ngo: downloading c v1\n", progress.String())
	assert.Equal(t, "go: added b v1\ngo: no such module", d.others.String()+d.line)
}
