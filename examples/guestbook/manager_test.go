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
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

// What is shipped to install the operator is taken by an API server, and the program understands what the Deployment
// tells it.
func TestManifestsOfTheOperator(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	binary, err := devcluster.Binary(t.Context(), os.Stderr)
	require.NoError(t, err)
	kubectl := exec.CommandContext(t.Context(), binary, "kubectl", "--dir", env.Dir, "apply", "--dry-run=server", "-f", "config/rbac", "-f", "config/manager")
	result := program.Run(t, kubectl)
	require.Zero(t, result.Code, result.Output())
	assert.Equal(t, 6, strings.Count(result.Stdout, "(server dry run)"), result.Output())

	content, err := os.ReadFile("config/manager/deployment.yaml")
	require.NoError(t, err)
	var deployment appsv1.Deployment
	require.NoError(t, yaml.UnmarshalStrict(content, &deployment))
	container := deployment.Spec.Template.Spec.Containers[0]
	require.Equal(t, "run", container.Args[0])
	command := program.Command(append([]string{"config"}, container.Args[1:]...)...)
	command.Env = []string{"HOME=" + t.TempDir()}
	for _, variable := range container.Env {
		command.Env = append(command.Env, variable.Name+"="+variable.Value)
	}
	result = program.Run(t, command)
	require.Zero(t, result.Code, result.Output())
	assert.NotContains(t, result.Output(), "warning=", "no variable is misspelt")
	assert.Regexp(t, `log.format +json +GUESTBOOK_OPERATOR_LOG_FORMAT`, result.Output())
}
