package report_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/bench/internal/report"
)

func TestStoreKeepsTraps(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	settings := report.Settings{Part: "traps", Bundles: 2, Built: "b"}
	s, err := report.Open(folder, settings)
	require.NoError(t, err)
	mine := []report.Trap{{Name: "m", Operator: ours, Holds: true, Evidence: "e"}, {Name: "n", Operator: ours, Evidence: "f"}}
	theirs := []report.Trap{{Name: "m", Operator: peer, Evidence: "g"}}
	require.NoError(t, s.PutTraps(ours, []report.Trap{{Name: "m", Operator: ours, Evidence: "of before"}}))
	require.NoError(t, s.PutTraps(ours, mine), "in place of those of before")
	require.NoError(t, s.PutTraps(peer, theirs))

	s, err = report.Open(folder, settings)
	require.NoError(t, err, "another run")
	all, err := s.Traps(ours, "nobody", peer)
	require.NoError(t, err)
	assert.Equal(t, append(mine, theirs...), all)
	rounds, err := s.Load("traps")
	require.NoError(t, err)
	assert.Empty(t, rounds, "answers aren't rounds")
}

func TestStoreRefusesTraps(t *testing.T) {
	t.Parallel()
	good := report.Trap{Name: "n", Operator: ours, Evidence: "e"}
	for _, row := range []struct {
		reason, operator string
		traps            []report.Trap
		want             string
	}{
		{"no name of a file", "../x", []report.Trap{good}, `operator "../x"`},
		{"an answer of another", peer, []report.Trap{good}, `trap "n" is answered by "operkit"`},
		{"a claim", ours, []report.Trap{{Name: "n", Operator: ours}}, `trap "n": no evidence`},
		{"two answers", ours, []report.Trap{good, good}, "answered twice"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			s, err := report.Open(folder)
			require.NoError(t, err)
			require.ErrorContains(t, s.PutTraps(row.operator, row.traps), row.want)
			files, err := os.ReadDir(folder)
			require.NoError(t, err)
			assert.Empty(t, files)
		})
	}
	folder := t.TempDir()
	s, err := report.Open(folder)
	require.NoError(t, err)
	for _, text := range []string{"[", `[{"name":"n","operator":"cr-update","evidence":"e"}]`} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, "traps.operkit.json"), []byte(text), 0o600))
		_, err = s.Traps(ours)
		require.ErrorContains(t, err, "traps.operkit.json", "it names the file")
	}
}
