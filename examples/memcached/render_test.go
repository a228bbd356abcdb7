package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Without any cluster in reach.
func TestSampleIsRendered(t *testing.T) {
	t.Parallel()
	command := exec.Command(os.Args[0], "render", "-f", "config/sample.yaml")
	command.Env = []string{asOperator + "=1", "HOME=" + t.TempDir()}
	command.Stderr = os.Stderr
	rendered, err := command.Output()
	require.NoError(t, err)
	golden, err := os.ReadFile("testdata/rendered.yaml")
	require.NoError(t, err)
	assert.Equal(t, string(golden), string(rendered), "if that is meant: go run . render -f config/sample.yaml > testdata/rendered.yaml")
}
