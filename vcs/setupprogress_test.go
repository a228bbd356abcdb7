package vcs

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSetupTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	for _, packed := range []bool{false, true} {
		g := shipped(t)
		if packed {
			g.git("gc", "-q", "--aggressive")
		}
		var all []Progress
		result, report := g.setup(SetupOptions{Branches: []string{"release/.*"}, Verify: true, Progress: func(p Progress) { all = append(all, p) }})
		assert.Empty(t, result.git("fsck", "--strict", "--no-dangling"))
		var first, last []Progress
		for i, one := range all {
			assert.LessOrEqual(t, one.Done, one.Total)
			if i == 0 || all[i-1].Phase != one.Phase {
				first = append(first, one)
			} else {
				assert.GreaterOrEqual(t, one.Done, all[i-1].Done)
			}
			if i+1 == len(all) || all[i+1].Phase != one.Phase {
				last = append(last, one)
			}
		}
		objects := report.Objects
		assert.Equal(t, []Progress{{Reading, 0, 4}, {Packing, 0, objects}, {Verifying, 0, objects}}, first)
		assert.Equal(t, []Progress{{Reading, 4, 4}, {Packing, objects, objects}, {Verifying, objects, objects}}, last)
	}
}

// Whenever it is interrupted, nothing is left, not even the folders above.
func TestSetupIsInterrupted(t *testing.T) {
	t.Parallel()
	g := shipped(t)
	for _, at := range []Progress{{Phase: Reading}, {Phase: Reading, Done: 2}, {Phase: Packing}, {Phase: Packing, Done: 7}, {Phase: Verifying}, {Phase: Verifying, Done: 7}} {
		base := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Setup(ctx, SetupOptions{Source: g.dir, Destination: filepath.Join(base, "deep", "er", "versions"), Verify: true, Progress: func(p Progress) {
			if p.Phase == at.Phase && p.Done == at.Done {
				cancel()
			}
		}})
		require.ErrorIs(t, err, context.Canceled, "%v", at)
		assert.NotContains(t, err.Error(), "the new repository is wrong")
		entries, err := os.ReadDir(base)
		require.NoError(t, err)
		assert.Empty(t, entries, "%v", at)
		cancel()
	}
}
