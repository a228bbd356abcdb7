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
	r := repotest.New(t, repotest.Standard()).Open()
	_, err := plan.Since(t.Context(), r, "nowhere")
	assert.EqualError(t, err, `revision "nowhere": git knows no such commit`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = plan.Since(ctx, r, "HEAD")
	assert.ErrorIs(t, err, context.Canceled)
}
