package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/devcluster"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dryRun renders the sample without any cluster in reach.
func dryRun(t *testing.T) string {
	t.Helper()
	command := exec.Command(os.Args[0], "run", "--dry-run", "--cr", "config/sample.yaml")
	command.Env = []string{asOperator + "=1", "HOME=" + t.TempDir()}
	command.Stderr = os.Stderr
	output, err := command.Output()
	require.NoError(t, err)
	return string(output)
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
	output, err := kubectl.CombinedOutput()
	require.NoError(t, err, string(output))
	assert.Equal(t, 6, strings.Count(string(output), "created (server dry run)"), string(output))
}
