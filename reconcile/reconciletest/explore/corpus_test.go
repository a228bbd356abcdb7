package explore

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// corpusErr explores with a corpus, and returns the error.
func corpusErr(t *testing.T, folder string) error {
	t.Helper()
	e, _ := explorerFor(t, forgetful, Corpus(folder), Findings(1))
	_, err := e.explore()
	return err
}

func TestCorpus(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "testdata", "explore")
	first := explored(t, manually(forgetful), startDriven, Findings(1), Corpus(folder))
	require.Len(t, first.findings, 1)
	file := first.findings[0].file
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	t.Run("explore 43: a finding is written to a file, and its story names it", func(t *testing.T) {
		assert.Contains(t, first.findings[0].story(), `kill-after@1.2"), kept in `+file)
		assert.Equal(t, `# explore: the cluster ends in another state than without the disturbance
#   1. create Shop.explore.operkit.dev tea
#      the operator is killed after it has sent: create ConfigMap test/till-bbbbc
#      created ConfigMap test/till-bbbbd
#      configured Shop test/tea status
#   => ConfigMap test/till-2 is there
#   replay: explore.Replay("Shop.explore.operkit.dev tea | without spec.sign | kill-after@1.2")
Shop.explore.operkit.dev tea | without spec.sign | kill-after@1.2
`, string(text))
		entries, err := os.ReadDir(folder)
		require.NoError(t, err)
		assert.Len(t, entries, 1, "no temporary file is left")
	})
	t.Run("explore 43: it is replayed first, and no second file is written", func(t *testing.T) {
		require.NoError(t, os.WriteFile(file, append(text, "# a remark\n"...), 0o600))
		again := explored(t, manually(forgetful), startDriven, Findings(1), Corpus(folder))
		require.Len(t, again.findings, 1)
		assert.Equal(t, first.findings[0].story(), again.findings[0].story())
		assert.Zero(t, again.visited, "a replay doesn't count")
		kept, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, string(text)+"# a remark\n", string(kept), "a file that exists stays as it is")
		entries, err := os.ReadDir(folder)
		require.NoError(t, err)
		assert.Len(t, entries, 1)
	})
	t.Run("explore 43: what was mended passes", func(t *testing.T) {
		mended := explored(t, manually(careful), startDriven, States(30), Corpus(folder))
		assert.Empty(t, mended.findings, stories(mended))
		assert.FileExists(t, file)
	})
}

func TestCorpusErrors(t *testing.T) {
	for _, row := range []struct{ why, content, says string }{
		{"the sample is gone", "Shop test/nobody | fail@1.1\n", "no sample and no edit of it has this name"},
		{"the field is gone", "Shop.explore.operkit.dev tea | without spec.roof | fail@1.1\n", "no such field"},
		{"nothing can be disturbed so", "Shop.explore.operkit.dev tea | overlap@1.2\n", "no such request"},
		{"the plan is wrong", "Shop.explore.operkit.dev tea | fial@1.1\n", "isn't ACT@CHAPTER.REQUEST"},
		{"nothing to replay", "# a remark\n\n", "0 lines to replay"},
		{"two findings", "Shop.explore.operkit.dev tea\nShop.explore.operkit.dev tea\n", "2 lines to replay"},
	} {
		t.Run("explore 49: the error names the file and what to do: "+row.why, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "kept")
			require.NoError(t, os.WriteFile(file, []byte(row.content), 0o600))
			err := corpusErr(t, filepath.Dir(file))
			assert.ErrorContains(t, err, "corpus "+file)
			assert.ErrorContains(t, err, row.says)
			assert.ErrorContains(t, err, "delete the file")
		})
	}
	t.Run("explore 49: a folder that can't be read or written is named", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		assert.ErrorContains(t, corpusErr(t, file), "corpus "+file)
		below := filepath.Join(file, "below")
		assert.ErrorContains(t, corpusErr(t, below), "corpus "+below)
		e, _ := explorerFor(t, careful, States(4), Picture(filepath.Join(below, "states.svg")))
		_, err := e.explore()
		assert.ErrorContains(t, err, "picture "+below)
	})
}
