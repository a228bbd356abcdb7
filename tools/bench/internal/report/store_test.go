package report_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/bench/internal/report"
)

var settings = report.Settings{Part: "main", Bundles: 10, Built: "abc"}

func open(t *testing.T, folder string) *report.Store {
	t.Helper()
	store, err := report.Open(folder, settings)
	require.NoError(t, err)
	return store
}

func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return all
}

func TestStoreGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "new", "[rounds]")
	store := open(t, folder)
	kept := []report.Round{
		round(ours, 1, figures(map[string]float64{"seconds": 1.25, "calls": 0})),
		round(peer, 10, figures(map[string]float64{"seconds": 2})),
		round(ours, 100, figures(map[string]float64{"seconds": 3})),
	}
	for _, i := range []int{2, 0, 1} {
		require.NoError(t, store.Put("main", kept[i]))
	}
	again, err := report.Open(folder, settings, report.Settings{Part: "main-scale", Bundles: 100, Built: "abc"})
	require.NoError(t, err, "the same settings, and a part that is new")
	scale := round(ours, 1, report.Round{Bundles: 100, Figures: map[string]float64{"rss": 1}})
	require.NoError(t, again.Put("main-scale", scale))
	loaded, err := again.Load("main")
	require.NoError(t, err)
	assert.Equal(t, kept, loaded, "by number, and not those of a part whose name starts the same")
	for _, test := range []struct {
		reason   string
		part     string
		number   int
		operator string
		want     bool
	}{
		{"kept by the run before", "main", 10, peer, true},
		{"kept by the run before, three digits", "main", 100, ours, true},
		{"of another operator", "main", 10, ours, false},
		{"of another number", "main", 2, ours, false},
		{"of another part", "main-scale", 10, peer, false},
		{"kept by this run", "main-scale", 1, ours, true},
	} {
		has, err := again.Has(test.part, test.number, test.operator)
		require.NoError(t, err, test.reason)
		assert.Equal(t, test.want, has, test.reason)
	}
	assert.Equal(t, []string{
		"main-scale.01.operkit.json", "main-scale.settings.json",
		"main.01.operkit.json", "main.10.cr-update.json", "main.100.operkit.json", "main.settings.json",
	}, names(t, folder), "and nothing temporary")
}

func TestForget(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	store, err := report.Open(folder, settings, report.Settings{Part: "main-scale", Bundles: 10, Built: "abc"})
	require.NoError(t, err)
	for _, part := range []string{"main", "main-scale"} {
		require.NoError(t, store.Put(part, rounds(ours, "seconds", 1)[0]))
	}
	require.NoError(t, report.Forget(folder, "main"))
	assert.Equal(t, []string{"main-scale.01.operkit.json", "main-scale.settings.json"}, names(t, folder), "others stay")
	require.NoError(t, report.Forget(folder, "main"), "nothing is there")
	require.NoError(t, report.Forget(filepath.Join(folder, "none"), "main"))
	_, err = report.Open(folder, report.Settings{Part: "main", Bundles: 20, Built: "def"})
	require.NoError(t, err, "other settings are none of its business")
}

func TestStoreReplacesARound(t *testing.T) {
	t.Parallel()
	store := open(t, t.TempDir())
	require.NoError(t, store.Put("main", rounds(ours, "seconds", 1)[0]))
	require.NoError(t, store.Put("main", rounds(ours, "seconds", 2)[0]))
	loaded, err := store.Load("main")
	require.NoError(t, err)
	assert.Equal(t, rounds(ours, "seconds", 2), loaded)
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		reason   string
		settings report.Settings
		want     string
	}{
		{
			"another size", report.Settings{Part: "main", Bundles: 20, Built: "abc"},
			"10 Bundles and build abc, not of 20 Bundles and build abc: remove the folder ",
		},
		{
			"other code", report.Settings{Part: "main", Bundles: 10, Built: "def"},
			"10 Bundles and build abc, not of 10 Bundles and build def: remove the folder ",
		},
		{
			"a part that would leave the folder", report.Settings{Part: "../main", Bundles: 10, Built: "abc"},
			`part "../main": a name is of a-z`,
		},
		{
			"a part whose dot would end the name", report.Settings{Part: "main.settings", Bundles: 10, Built: "abc"},
			"a name is of a-z",
		},
		{"nothing to measure", report.Settings{Part: "main", Built: "abc"}, "0 Bundles"},
		{"nobody knows of which code", report.Settings{Part: "main", Bundles: 10}, "no hash of what is built"},
		{
			"twice with settings that differ", report.Settings{Part: "fresh", Bundles: 10, Built: "other"},
			"part fresh is named twice",
		},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			open(t, folder)
			_, err := report.Open(folder, report.Settings{Part: "fresh", Bundles: 10, Built: "abc"}, test.settings)
			require.ErrorContains(t, err, test.want)
			assert.Equal(t, []string{"main.settings.json"}, names(t, folder), "a refused run leaves nothing")
		})
	}
}

func TestOpenRefusesRoundsWithoutSettings(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, open(t, folder).Put("main", rounds(ours, "seconds", 1)[0]))
	path := filepath.Join(folder, "main.settings.json")
	require.NoError(t, os.Remove(path))
	_, err := report.Open(folder, settings)
	require.ErrorContains(t, err, path+": it is missing")
	require.ErrorContains(t, err, "remove the folder "+folder)
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	_, err = report.Open(folder, settings)
	require.ErrorContains(t, err, path+": unexpected EOF: remove the folder "+folder)
}

func TestPutRefuses(t *testing.T) {
	t.Parallel()
	good := map[string]float64{"seconds": 1}
	for _, test := range []struct {
		reason string
		part   string
		round  report.Round
		want   string
	}{
		{"a part without settings", "scale", round(ours, 1, figures(good)), `part "scale": the folder wasn't opened for it`},
		{"an operator that would leave the folder", "main", round("../x", 1, figures(good)), `operator "../x": a name is of a-z`},
		{"no operator", "main", round("", 1, figures(good)), `operator ""`},
		{"rounds count from 1", "main", round(ours, 0, figures(good)), "round 0"},
		{
			"another size than the part", "main", round(ours, 1, report.Round{Bundles: 9, Figures: good}),
			"9 Bundles: the part has 10",
		},
		{"no size", "main", report.Round{Operator: ours, Number: 1, Figures: good}, "0 Bundles"},
		{"nothing measured", "main", round(ours, 1, report.Round{}), "part main: operkit: round 1: no figures"},
		{
			"no number", "main", round(ours, 1, figures(map[string]float64{"a": 1, "b": math.NaN()})),
			"operkit: round 1: figure b is NaN",
		},
		{"no end", "main", round(ours, 1, figures(map[string]float64{"a": math.Inf(1)})), "figure a is +Inf"},
		{"a clock that went back", "main", round(ours, 1, figures(map[string]float64{"a": -1})), "figure a is -1"},
		{
			"a figure that can't name a chart", "main", round(ours, 1, figures(map[string]float64{"a/b": 1})),
			`figure "a/b": a name is of a-z`,
		},
		{
			"the name of the number of Bundles", "main", round(ours, 1, figures(map[string]float64{"bundles": 1})),
			"figure bundles: the name is taken",
		},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			require.ErrorContains(t, open(t, folder).Put(test.part, test.round), test.want)
			assert.Equal(t, []string{"main.settings.json"}, names(t, folder))
		})
	}
}

func TestPutThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	store := open(t, folder)
	inTheWay := filepath.Join(folder, "main.01.operkit.json")
	require.NoError(t, os.Mkdir(inTheWay, 0o755))
	require.ErrorContains(t, store.Put("main", rounds(ours, "seconds", 1)[0]), inTheWay)
	assert.Equal(t, []string{"main.01.operkit.json", "main.settings.json"}, names(t, folder), "no temporary file")
}

func TestUnreadableRounds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		reason  string
		content string
		want    string
	}{
		{"it ends half-way", `{"operator":"operkit","num`, "unexpected EOF"},
		{"it is empty", ``, "EOF"},
		{"it is of something else", `{"kind":"Bundle"}`, `unknown field "kind"`},
		{
			"something follows", `{"operator":"operkit","number":1,"bundles":10,"figures":{"a":1}}{}`,
			"something follows the JSON object",
		},
		{
			"it was copied from another round", `{"operator":"operkit","number":2,"bundles":10,"figures":{"a":1}}`,
			"it holds round 2 of operkit",
		},
		{
			"it was copied from another operator", `{"operator":"other","number":1,"bundles":10,"figures":{"a":1}}`,
			"it holds round 1 of other",
		},
		{
			"it was copied from another part", `{"operator":"operkit","number":1,"bundles":11,"figures":{"a":1}}`,
			"it has 11 Bundles and its part 10",
		},
		{"a figure was edited", `{"operator":"operkit","number":1,"bundles":10,"figures":{"a":-1}}`, "figure a is -1"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			store := open(t, folder)
			path := filepath.Join(folder, "main.01.operkit.json")
			require.NoError(t, os.WriteFile(path, []byte(test.content), 0o600))
			_, err := store.Load("main")
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, test.want)
			require.ErrorContains(t, err, ": remove the file to measure the round again")
			has, err := store.Has("main", 1, ours)
			require.ErrorContains(t, err, path, "before more rounds are measured")
			assert.False(t, has)
		})
	}
}

func TestLoadAndHasRefuse(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	store := open(t, folder)
	_, err := store.Load("scale")
	require.ErrorContains(t, err, `part "scale": the folder wasn't opened for it: give its settings to Open`)
	_, err = store.Has("scale", 1, ours)
	require.ErrorContains(t, err, `part "scale"`)
	_, err = store.Has("main", 1, "../"+ours)
	require.ErrorContains(t, err, "a name is of a-z")
	loaded, err := store.Load("main")
	require.NoError(t, err, "nothing measured yet")
	assert.Empty(t, loaded)
}
