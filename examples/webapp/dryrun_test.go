package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// render renders a file without any cluster in reach. The definition says that a WebApp has no namespace.
func render(t *testing.T, file string) string {
	t.Helper()
	command := program.Command("render", "-f", file)
	command.Env = []string{"HOME=" + t.TempDir()}
	result := program.Run(t, command)
	require.Zero(t, result.Code, result.Stderr)
	return result.Stdout
}

func TestRenderedSample(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("testdata/sample.yaml")
	require.NoError(t, err)
	assert.Equal(t, string(want), render(t, "config/sample.yaml"), "the version is what the channel says, and nobody has asked it")
}

func TestRenderingAsksNoChannel(t *testing.T) {
	t.Parallel()
	channel := newReleases(t, firstRelease)
	sample, err := os.ReadFile("config/sample.yaml")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "sample.yaml")
	ours := strings.ReplaceAll(string(sample), "https://releases.example.com", channel.URL)
	require.Contains(t, ours, channel.URL)
	require.NoError(t, os.WriteFile(file, []byte(ours), 0o600))
	assert.NotEmpty(t, render(t, file))
	assert.Zero(t, channel.count())
}

// A dry run with a cluster knows the version by what is out.
func TestDiffOfASettledWebApp(t *testing.T) {
	w := newWorld(t)
	p := w.start()
	w.create(w.staging, w.production)
	w.settled()
	require.Zero(t, p.Stop(t))
	asked := w.channel.count()
	diff := program.Run(t, program.Command("diff", w.app, "--kubeconfig", w.config))
	require.Zero(t, diff.Code, diff.Output())
	assert.Empty(t, diff.Output(), "nothing would change")
	assert.Equal(t, asked, w.channel.count(), "no channel is asked")
}
