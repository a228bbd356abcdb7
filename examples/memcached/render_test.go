package main

import (
	"os"
	"testing"

	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Without any cluster in reach.
func TestSampleIsRendered(t *testing.T) {
	t.Parallel()
	command := program.Command("render", "-f", "config/sample.yaml")
	command.Env = []string{"HOME=" + t.TempDir()}
	rendered := program.Run(t, command)
	require.Zero(t, rendered.Code, rendered.Stderr)
	golden, err := os.ReadFile("testdata/rendered.yaml")
	require.NoError(t, err)
	assert.Equal(t, string(golden), rendered.Stdout, "if that is meant: go run . render -f config/sample.yaml > testdata/rendered.yaml")
}
