package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/devcluster"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dryRun renders the sample without any cluster in reach.
func dryRun(t *testing.T) string {
	t.Helper()
	command := program.Command("run", "--dry-run", "--cr", "config/sample.yaml")
	command.Env = []string{"HOME=" + t.TempDir()}
	result := program.Run(t, command)
	require.Zero(t, result.Code, result.Stderr)
	return result.Stdout
}

func TestDryRunOfTheSample(t *testing.T) {
	t.Parallel()
	output := dryRun(t)
	var headings []string
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "#") {
			headings = append(headings, strings.TrimSpace(line))
		}
	}
	assert.Equal(t, []string{
		"# redis: Secret/hello-redis", "# redis: Service/hello-redis", "# redis: StatefulSet/hello-redis",
		"# web: ConfigMap/hello-web", "# web: Service/hello-web", "# web: Deployment/hello-web",
	}, headings)
	assert.Contains(t, output, "password: (generated when deployed)")
	for _, field := range []string{"ownerReferences", "uid", "resourceVersion", "managedFields", "status:", "creationTimestamp"} {
		assert.NotContains(t, output, field)
	}
	assert.Equal(t, output, dryRun(t), "the same every time")
}

func TestAPIServerAcceptsTheDryRun(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	binary, err := devcluster.Binary(t.Context(), os.Stderr)
	require.NoError(t, err)
	kubectl := exec.CommandContext(t.Context(), binary, "kubectl", "--dir", env.Dir, "apply", "--dry-run=server", "-f", "-")
	kubectl.Stdin = strings.NewReader(dryRun(t))
	result := program.Run(t, kubectl)
	require.Zero(t, result.Code, result.Output())
	assert.Equal(t, 6, strings.Count(result.Stdout, "created (server dry run)"), result.Output())
}
