package plan_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/release/internal/plan"
	"github.com/operkit/operkit/tools/release/internal/repotest"
)

func TestSince(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		files  repotest.Files
		want   string
	}{
		{"nothing has changed", nil, "APIs since HEAD: no change.\n"},
		{"a fix, a test and a page offer what was there", repotest.Files{"ground/ground.go": fixedGround, "ground/a_test.go": "package ground\n", "top/README.md": "x"},
			"APIs since HEAD: no change.\n"},
		{"something new and something broken, the module that is below first", repotest.Files{
			"ground/ground.go": brokenGround, "middle/middle.go": fittedMiddle + "\n// More is more.\nfunc More() int { return 2 }\n",
		}, "APIs since HEAD (- breaks callers, + is new):\n  ground\n    - Depth: changed from func() int to func() int8\n  middle\n    + More: added\n"},
		{"a module that isn't released", repotest.Files{"scratch/scratch.go": "package scratch\n\nfunc New() {}\n"}, "APIs since HEAD: no change.\n"},
		{"a new module", repotest.Files{
			"ground/inner/go.mod": repotest.Mod("ground/inner"), "ground/inner/inner.go": "package inner\n", "ground/inner/CHANGELOG.md": repotest.Changelog,
		}, "APIs since HEAD (- breaks callers, + is new):\n  ground/inner\n    + the module\n"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			r := repotest.New(t, repotest.Standard())
			r.Write(row.files)
			status := r.Git("status", "--porcelain")
			found, err := plan.Since(t.Context(), r.Open(), "HEAD")
			require.NoError(t, err)
			var text strings.Builder
			require.NoError(t, found.Write(&text))
			assert.Equal(t, row.want, text.String())
			assert.Equal(t, status, r.Git("status", "--porcelain"), "it only reads")
			r.Commit("change")
			again, err := plan.Since(t.Context(), r.Open(), "HEAD~1")
			require.NoError(t, err)
			assert.Equal(t, found.Modules, again.Modules, "the same once it is committed")
		})
	}
	t.Run("a sibling that has another name now, of a commit that is released", func(t *testing.T) {
		t.Parallel()
		r := repotest.New(t, repotest.Standard())
		published, _, _ := strings.Cut(repotest.Mod("middle", "ground"), "\nreplace")
		r.Write(repotest.Files{"middle/go.mod": published})
		r.Commit("released")
		r.Git("mv", "ground", "cellar")
		r.Write(repotest.Files{
			"cellar/go.mod": repotest.Mod("cellar"), "middle/go.mod": repotest.Mod("middle", "cellar"),
			"middle/middle.go": strings.ReplaceAll(repotest.Standard()["middle/middle.go"], "kit/ground", "kit/cellar"),
			"top/go.mod":       repotest.Mod("top", "middle", "cellar // indirect"),
			"scratch/go.mod":   repotest.Mod("scratch", "top", "middle // indirect", "cellar // indirect"),
		})
		found, err := plan.Since(t.Context(), r.Open(), "HEAD")
		require.NoError(t, err)
		assert.Empty(t, found.Modules)
		assert.Equal(t, []string{"cellar"}, found.New)
	})
	t.Run("a sibling that is gone", func(t *testing.T) {
		t.Parallel()
		r := repotest.New(t, repotest.Standard())
		r.Git("rm", "--quiet", "-r", "ground")
		r.Write(repotest.Files{
			"middle/go.mod": repotest.Mod("middle"), "top/go.mod": repotest.Mod("top", "middle"), "scratch/go.mod": repotest.Mod("scratch", "top", "middle // indirect"),
			"middle/middle.go": "// Package middle is below all.\npackage middle\n\n// Height is how high it is.\nfunc Height() int8 { return 2 }\n",
		})
		found, err := plan.Since(t.Context(), r.Open(), "HEAD")
		require.NoError(t, err)
		require.Len(t, found.Modules, 1)
		assert.Equal(t, []string{"Height: changed from func() int to func() int8"}, found.Modules[0].Breaking)
	})
	r := repotest.New(t, repotest.Standard()).Open()
	_, err := plan.Since(t.Context(), r, "nowhere")
	assert.EqualError(t, err, `revision "nowhere": git knows no such commit`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = plan.Since(ctx, r, "HEAD")
	assert.ErrorIs(t, err, context.Canceled)
}
