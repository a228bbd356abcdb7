package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/release/internal/repotest"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	return string(text)
}

// TestReadmePlan makes the changes of which the README shows the plan.
func TestReadmePlan(t *testing.T) {
	t.Parallel()
	_, text, found := strings.Cut(readme(t), "```\nMODULE")
	require.True(t, found)
	table, _, _ := strings.Cut("MODULE"+text, "```")
	files := repotest.Files{
		"dag/go.mod": repotest.Mod("dag"), "dag/dag.go": "package dag\n\nfunc New() {}\n",
		"reconcile/go.mod": repotest.Mod("reconcile", "dag"), "reconcile/reconcile.go": "package reconcile\n\nimport _ \"example.com/kit/dag\"\n",
		"show/go.mod": repotest.Mod("show", "dag // indirect", "reconcile"), "show/main.go": "package main\n\nimport _ \"example.com/kit/reconcile\"\n\nfunc main() {}\n",
		"status/go.mod": repotest.Mod("status"), "status/status.go": "package status\n",
	}
	for _, dir := range []string{"dag", "reconcile", "show", "status"} {
		files[dir+"/CHANGELOG.md"] = repotest.Changelog
	}
	r := repotest.New(t, files)
	r.Tag("dag/v0.1.0", "reconcile/v0.1.0", "show/v0.3.0", "status/v0.1.0")
	r.Write(repotest.Files{"dag/dag.go": "package dag\n\nfunc New() {}\n\nfunc Run() {}\n", "show/main.go": files["show/main.go"] + "\nfunc init() { println() }\n"})
	got := in(r.Root, nil)(t, "plan")
	assert.Equal(t, 0, got.code, got.stderr)
	assert.True(t, strings.HasPrefix(got.stdout, table), got.stdout)
}

// TestReadmeFlags: what it says of flags there are.
func TestReadmeFlags(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, repotest.Standard())
	var help strings.Builder
	for _, command := range []string{"plan", "api", "apply", "verify"} {
		help.WriteString(in(r.Root, nil)(t, command, "--help").stdout)
	}
	flags := regexp.MustCompile("`(--[a-z-]+)[ `]").FindAllStringSubmatch(readme(t), -1)
	require.Len(t, flags, 5)
	for _, flag := range flags {
		assert.Contains(t, help.String(), flag[1])
	}
}

// TestReadmeProxy: the snippet is that of the package's example.
func TestReadmeProxy(t *testing.T) {
	t.Parallel()
	_, text, found := strings.Cut(readme(t), "```go\n")
	require.True(t, found)
	text, _, _ = strings.Cut(text, "```")
	example, err := os.ReadFile("proxy/example_test.go")
	require.NoError(t, err)
	plain := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	assert.Contains(t, plain(string(example)), plain(text))
}
