package project_test

import (
	"bytes"
	"context"
	"net"
	"regexp"
	"testing"

	"github.com/operkit/operkit/operator/full"
	"github.com/operkit/operkit/tools/operkit/internal/project"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asked is what an operator answers to arguments.
func asked(ctx context.Context, t *testing.T, args ...string) string {
	t.Helper()
	var out, log bytes.Buffer
	require.Zero(t, full.New("guestbook-operator").Execute(ctx, args, &out, &log), log.String())
	return out.String()
}

// What files of a project say to the operator it understands: the commands and flags of Makefile and README, and the
// ports of the Deployment.
func TestOperatorUnderstands(t *testing.T) {
	t.Parallel()
	files := rendered(t)
	for _, file := range []string{"Makefile", "README.md", "AGENTS.md"} {
		calls := regexp.MustCompile(`bin/(?:\$\(NAME\)|guestbook-operator) ([a-z]+)((?: .*)?)`).FindAllStringSubmatch(files[file], -1)
		assert.NotEmpty(t, calls, file)
		for _, call := range calls {
			help := asked(t.Context(), t, call[1], "--help")
			for _, flag := range regexp.MustCompile(` (--?[a-z][a-z.-]*)`).FindAllStringSubmatch(call[2], -1) {
				assert.Contains(t, help, flag[1], "%s: %s", file, call[0])
			}
		}
	}
	settings := asked(t.Context(), t, "run", "--help")
	for _, port := range regexp.MustCompile(`containerPort: (\d+)`).FindAllStringSubmatch(files["config/manager/deployment.yaml"], -1) {
		assert.Contains(t, settings, net.JoinHostPort("", port[1]), "the port that it has in a Pod")
	}
}

// values are those of the project that the documentation shows.
func values() project.Values {
	return project.Values{
		Name: "guestbook-operator", Module: "example.com/guestbook-operator", Kind: "Guestbook", Group: "example.com", Version: "v1",
		API: "api/v1", Package: "guestbook",
		Versions: project.Versions{Go: "1.26.0", Operator: "v0.1.0", Envtest: "v0.1.0", ControllerTools: "v0.23.0"},
	}
}

// rendered are the files of a new project by their paths.
func rendered(t *testing.T) map[string]string {
	t.Helper()
	files, err := project.New(values())
	require.NoError(t, err)
	texts := map[string]string{}
	for _, file := range files {
		assert.NotContains(t, texts, file.Path, "no file is there twice")
		texts[file.Path] = string(file.Text)
	}
	return texts
}
