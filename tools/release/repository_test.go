package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/check/repository"
	"github.com/operkit/operkit/tools/release/internal/plan"
	"github.com/operkit/operkit/tools/release/internal/repotest"
)

// scratch is a repository of its own with the files of this one.
func scratch(t *testing.T) *repotest.Repository {
	t.Helper()
	here, err := repository.Open(".")
	require.NoError(t, err)
	names, err := here.Files(t.Context(), "")
	require.NoError(t, err)
	files := repotest.Files{}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(here.Root, filepath.FromSlash(name)))
		require.NoError(t, err)
		if len(text) > 0 {
			files[name] = string(text)
		}
	}
	return repotest.New(t, files)
}

// TestPlanOfThisRepository changes dag after a release of all modules: it is released anew, with those that require it,
// and no other.
func TestPlanOfThisRepository(t *testing.T) {
	t.Parallel()
	r := scratch(t)
	first, err := plan.Make(t.Context(), r.Open(), r.Day())
	require.NoError(t, err)
	require.Greater(t, len(first.Modules), 12)
	var dependents []string
	names := func(text, module string) bool {
		return strings.Contains(text, "github.com/operkit/operkit/"+module+" v")
	}
	for _, m := range first.Modules {
		assert.Equal(t, "v0.1.0", m.Next, m.Module)
		r.Tag(m.Tag)
		text, err := os.ReadFile(filepath.Join(r.Root, m.Module, "go.mod"))
		require.NoError(t, err)
		// A tidy go.mod names the modules whose packages it compiles. What a module requires comes before it in the
		// plan.
		if m.Module == "dag" || slices.ContainsFunc(dependents, func(one string) bool { return names(string(text), one) }) {
			dependents = append(dependents, m.Module)
		}
	}
	r.Write(repotest.Files{"dag/fake.go": "package dag\n\n// Fake is new.\nfunc Fake() {}\n"})
	r.Commit("dag: a fake change")
	p, err := plan.Make(t.Context(), r.Open(), r.Day())
	require.NoError(t, err)
	var proposed []string
	for _, m := range p.Modules {
		proposed = append(proposed, m.Module)
		if m.Module == "dag" {
			assert.Equal(t, "v0.2.0", m.Next)
			assert.Equal(t, []string{"Fake: added"}, m.Added)
			assert.Empty(t, m.Breaking)
		} else {
			assert.Equal(t, "v0.1.1", m.Next, m.Module)
			text, err := os.ReadFile(filepath.Join(r.Root, m.Module, "go.mod"))
			require.NoError(t, err)
			required := "reconcile v0.1.1"
			if names(string(text), "dag") {
				required = "dag v0.2.0"
			}
			assert.Contains(t, strings.Join(m.Reasons, "; "), required, m.Module)
		}
	}
	assert.Equal(t, dependents, proposed)
	assert.Equal(t, "dag", proposed[0])
	for _, m := range []string{"reconcile", "operator", "operator/full", "reconcile/celready", "reconcile/versions", "reconcile/admission/rule/ruletest"} {
		assert.Contains(t, proposed, m)
	}
	for _, m := range []string{"smp", "status", "deploy", "vcs", "vcs/setupcommand", "tools/envtest", "tools/devcluster", "tools/setup-vcs"} {
		assert.NotContains(t, proposed, m)
	}
	assert.Less(t, slices.Index(proposed, "reconcile"), slices.Index(proposed, "operator"), "what is required comes first")
}
