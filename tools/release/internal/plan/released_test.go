package plan_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/check/repository"
	"github.com/operkit/operkit/tools/release/internal/repotest"
)

func folders(modules []repository.Module) []string {
	var names []string
	for _, m := range modules {
		names = append(names, m.Dir)
	}
	return names
}

func TestReleasedInOrder(t *testing.T) {
	t.Parallel()
	files := repotest.Standard()
	files["_old/go.mod"] = repotest.Mod("_old")
	files["ground/testdata/fixture/go.mod"] = repotest.Mod("fixture")
	files["ground/deep/go.mod"] = repotest.Mod("ground/deep", "top")
	files["ground/deep/CHANGELOG.md"] = repotest.Changelog
	r := repotest.New(t, files).Open()
	assert.Equal(t, []string{"aside", "ground", "ground/deep", "middle", "scratch", "top"}, folders(r.Modules))
	released, err := r.Released()
	require.NoError(t, err)
	assert.Equal(t, []string{"aside", "ground", "middle", "top", "ground/deep"}, folders(released), "each after what it requires; scratch has no changelog")
	assert.Equal(t, []string{"ground/deep"}, r.Nested(released[1]))

	chosen, err := repository.Select(released, "./top/,example.com/kit/aside,top")
	require.NoError(t, err)
	assert.Equal(t, []string{"aside", "top"}, folders(chosen), "each once")
	_, err = repository.Select(released, "top,scratch,none")
	assert.EqualError(t, err, `module "scratch": there is no such module: use one of aside, ground, middle, top, ground/deep`+
		"\n"+`module "none": there is no such module: use one of aside, ground, middle, top, ground/deep`)

	below, err := repository.Open(filepath.Join(r.Root, "ground", "deep"))
	require.NoError(t, err)
	assert.Equal(t, r.Root, below.Root)
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		files  repotest.Files
		want   string
	}{
		{
			"a requirement that isn't released, for tests or not", repotest.Files{"aside/go.mod": repotest.Mod("aside", "scratch"), "ground/go.mod": repotest.Mod("ground", "scratch")},
			"module aside: requires scratch, which isn't released: give scratch a CHANGELOG.md, or remove the requirement\n" +
				"module ground: requires scratch, which isn't released: give scratch a CHANGELOG.md, or remove the requirement",
		},
		{
			"a circle", repotest.Files{"ground/go.mod": repotest.Mod("ground", "top")},
			"modules ground -> top -> ground: they require each other, so none can be released before the other",
		},
		{
			"a companion that isn't released", repotest.Files{"aside/go.mod": "//release:companion example.com/kit/scratch\n" + repotest.Mod("aside")},
			"module aside: its companion is example.com/kit/scratch, which is no released module of this repository",
		},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			r := repotest.New(t, repotest.Standard())
			r.Write(row.files)
			_, err := r.Open().Released()
			assert.EqualError(t, err, row.want)
		})
	}
}

func TestPathsThatTagsCantHave(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, repotest.Standard())
	r.Write(repotest.Files{"aside/go.mod": "module example.com/kit/beside\n"})
	_, err := r.Open().Released()
	assert.EqualError(t, err, "aside/go.mod: the module path is example.com/kit/beside: it must end with the name of its folder, aside, because git tags of versions begin with this name")
}

func TestCompanions(t *testing.T) {
	t.Parallel()
	files := repotest.Standard()
	files["aside/go.mod"] = "// They go together.\n//release:companion example.com/kit/ground\n" + files["aside/go.mod"]
	r := repotest.New(t, files).Open()
	for path, want := range map[string][]string{
		"aside": {"aside", "ground"}, "ground": {"ground", "aside"}, "top": {"top"},
	} {
		var full []string
		for _, name := range want {
			full = append(full, repotest.Prefix+name)
		}
		assert.Equal(t, full, r.Companions(repotest.Prefix+path))
	}
}

func TestTag(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "tools/x/v1.2.3", repository.Module{Dir: "tools/x"}.Tag("v1.2.3"))
	assert.Equal(t, "v1.2.3", repository.Module{Dir: "."}.Tag("v1.2.3"), "the module of the root")
}
