package plan_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/release/internal/plan"
	"github.com/operkit/operkit/tools/release/internal/repotest"
)

var day = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// tagged is the standard repository, all of which was released as v0.1.0.
func tagged(t *testing.T) *repotest.Repository {
	t.Helper()
	files := repotest.Standard()
	files["middle/CHANGELOG.md"] += "\n### Added\n\n- All of it.\n"
	r := repotest.New(t, files)
	r.Tag("aside/v0.1.0", "ground/v0.1.0", "middle/v0.1.0", "top/v0.1.0")
	return r
}

func made(t *testing.T, r *repotest.Repository) plan.Plan {
	t.Helper()
	before := r.Git("status", "--porcelain") + r.Git("for-each-ref")
	p, err := plan.Make(t.Context(), r.Open(), day)
	require.NoError(t, err)
	assert.Equal(t, before, r.Git("status", "--porcelain")+r.Git("for-each-ref"), "it only reads")
	return p
}

// lines are what the plan says of each module.
func lines(p plan.Plan) []string {
	all := []string{}
	for _, m := range p.Modules {
		all = append(all, strings.Join([]string{m.Module, m.Last, m.Next, m.Change.String(), strings.Join(m.Reasons, "; ")}, " "))
	}
	return all
}

const (
	groundBefore = "// Package ground is below all.\npackage ground\n\n// Depth is how deep it is.\nfunc Depth() int { return "
	fixedGround  = groundBefore + "2 - 1 }\n"
	addedGround  = groundBefore + "1 }\n\n// Deeper is more.\nfunc Deeper() int { return 2 }\n"
	brokenGround = "// Package ground is below all.\npackage ground\n\n// Depth is how deep it is.\nfunc Depth() int8 { return 1 }\n"
	fittedMiddle = "// Package middle is in between.\npackage middle\n\nimport \"example.com/kit/ground\"\n\n// Height is how high it is.\nfunc Height() int { return int(ground.Depth()) + 1 }\n"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		files  repotest.Files
		want   []string
	}{
		{"nothing has changed", nil, []string{}},
		{"a fix reaches those that require the module, and theirs", repotest.Files{"ground/ground.go": fixedGround}, []string{
			"ground v0.1.0 v0.1.1 fixed changed: ground.go",
			"middle v0.1.0 v0.1.1 fixed requires: ground v0.1.1",
			"top v0.1.0 v0.1.1 fixed requires: ground v0.1.1, middle v0.1.1",
		}},
		{"something new is for its own module alone", repotest.Files{"ground/ground.go": addedGround}, []string{
			"ground v0.1.0 v0.2.0 added added: Deeper: added; changed: ground.go",
			"middle v0.1.0 v0.1.1 fixed requires: ground v0.2.0",
			"top v0.1.0 v0.1.1 fixed requires: ground v0.2.0, middle v0.1.1",
		}},
		{"what breaks callers", repotest.Files{"ground/ground.go": brokenGround, "middle/middle.go": fittedMiddle}, []string{
			"ground v0.1.0 v0.2.0 breaking breaking: Depth: changed from func() int to func() int8; changed: ground.go",
			"middle v0.1.0 v0.1.1 fixed changed: middle.go; requires: ground v0.2.0",
			"top v0.1.0 v0.1.1 fixed requires: ground v0.2.0, middle v0.1.1",
		}},
		{"a new package, and a file of another kind", repotest.Files{"aside/beside/beside.go": "package beside\n", "aside/README.md": "# aside\n"}, []string{
			"aside v0.1.0 v0.2.0 added added: package example.com/kit/aside/beside: added; changed: README.md, beside/beside.go",
		}},
		{"a page of documentation", repotest.Files{"aside/README.md": "# aside\n"}, []string{"aside v0.1.0 v0.1.1 fixed changed: README.md"}},
		{"an internal package offers nothing", repotest.Files{"aside/internal/x/x.go": "package x\n\nfunc X() {}\n"}, []string{
			"aside v0.1.0 v0.1.1 fixed changed: internal/x/x.go",
		}},
		{"tests and their data", repotest.Files{"ground/ground_test.go": "package ground\n", "ground/testdata/x.go": "package x\n"}, []string{}},
		{"a module that isn't released", repotest.Files{"scratch/scratch.go": "package scratch // more\n"}, []string{}},
		{"a nested module is none of the outer one's", repotest.Files{
			"ground/inner/go.mod": repotest.Mod("ground/inner"), "ground/inner/inner.go": "package inner\n", "ground/inner/CHANGELOG.md": repotest.Changelog,
		}, []string{"ground/inner  v0.1.0 added first release"}},
		{"a file of tools", repotest.Files{"tools/x.txt": "x"}, []string{}},
		{"what the changelog says of a command", repotest.Files{"top/CHANGELOG.md": repotest.Changelog + "\n### Added\n\n- A flag.\n"}, []string{
			"top v0.1.0 v0.2.0 added changed: CHANGELOG.md",
		}},
		{"what the changelog said already when it was tagged", repotest.Files{"middle/README.md": "x"}, []string{
			"middle v0.1.0 v0.1.1 fixed changed: README.md",
			"top v0.1.0 v0.1.1 fixed requires: middle v0.1.1",
		}},
		{"another version of Go", repotest.Files{"aside/go.mod": "module example.com/kit/aside\n\ngo 1.26\n"}, []string{"aside v0.1.0 v0.1.1 fixed changed: go.mod"}},
		{"many files", repotest.Files{"aside/1": "1", "aside/2": "2", "aside/3": "3", "aside/4": "4", "aside/5": "5"}, []string{
			"aside v0.1.0 v0.1.1 fixed changed: 1, 2, 3 and 2 more",
		}},
		{"a module that is to be released from now on", repotest.Files{"scratch/CHANGELOG.md": repotest.Changelog}, []string{"scratch  v0.1.0 added first release"}},
		{"modules with the same version", repotest.Files{"aside/README.md": "x", "aside/go.mod": "//release:companion example.com/kit/ground\n" + repotest.Mod("aside")}, []string{
			"aside v0.1.0 v0.1.1 fixed changed: README.md; same version as ground",
			"ground v0.1.0 v0.1.1 fixed same version as aside",
			"middle v0.1.0 v0.1.1 fixed requires: ground v0.1.1",
			"top v0.1.0 v0.1.1 fixed requires: ground v0.1.1, middle v0.1.1",
		}},
		{"modules with the same version, of which one has more", repotest.Files{
			"ground/ground.go": addedGround, "aside/README.md": "x", "aside/go.mod": "//release:companion example.com/kit/ground\n" + repotest.Mod("aside"),
		}, []string{
			"aside v0.1.0 v0.2.0 fixed changed: README.md; same version as ground",
			"ground v0.1.0 v0.2.0 added added: Deeper: added; changed: ground.go; same version as aside",
			"middle v0.1.0 v0.1.1 fixed requires: ground v0.2.0",
			"top v0.1.0 v0.1.1 fixed requires: ground v0.2.0, middle v0.1.1",
		}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			r := tagged(t)
			r.Write(row.files)
			assert.Equal(t, row.want, lines(made(t, r)), "before it is committed")
			r.Commit("change")
			assert.Equal(t, row.want, lines(made(t, r)), "and afterwards")
		})
	}
}

func TestFirstRelease(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, repotest.Standard())
	r.Tag("ground/v0.1.0-rc.1", "v7.0.0", "middle/first")
	p := made(t, r)
	assert.Equal(t, []string{
		"aside  v0.1.0 added first release", "ground  v0.1.0 added first release",
		"middle  v0.1.0 added first release", "top  v0.1.0 added first release",
	}, lines(p), "in the order of their requirements; other tags are none of theirs")
	assert.Equal(t, "ground/v0.1.0", p.Modules[1].Tag)
	assert.Equal(t, "- First release.", p.Modules[1].Changelog)
}

func TestFromVersionOneOn(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, repotest.Standard())
	r.Tag("aside/v0.1.0", "ground/v1.0.0", "middle/v0.9.0", "top/v1.4.0")
	r.Write(repotest.Files{"ground/ground.go": addedGround})
	assert.Equal(t, []string{
		"ground v1.0.0 v1.1.0 added added: Deeper: added; changed: ground.go",
		"middle v0.9.0 v0.9.1 fixed requires: ground v1.1.0",
		"top v1.4.0 v1.4.1 fixed requires: ground v1.1.0, middle v0.9.1",
	}, lines(made(t, r)))
	r.Write(repotest.Files{"ground/ground.go": brokenGround, "middle/middle.go": fittedMiddle})
	_, err := plan.Make(t.Context(), r.Open(), day)
	assert.EqualError(t, err, "module example.com/kit/ground: it breaks callers of v1.0.0, so its path has to become example.com/kit/ground/v2: "+
		"change the path in go.mod and in imports, or don't break callers")
}

func TestChangelogs(t *testing.T) {
	t.Parallel()
	r := tagged(t)
	r.Write(repotest.Files{"ground/ground.go": fixedGround})
	r.Commit("ground: it is said in another way")
	r.Write(repotest.Files{"ground/other.go": "package ground\n", "aside/x.txt": "x"})
	r.Commit("ground, aside: files come")
	r.Write(repotest.Files{"scratch/scratch.go": "package scratch // x\n"})
	r.Commit("scratch: of no interest")
	r.Write(repotest.Files{"top/CHANGELOG.md": repotest.Changelog + "\n### Fixed\n\n- What it shows.\n"})
	r.Commit("top: its changelog")
	texts := map[string]string{}
	for _, m := range made(t, r).Modules {
		texts[m.Module] = m.Changelog
	}
	assert.Equal(t, map[string]string{
		"ground": "- ground, aside: files come\n- ground: it is said in another way",
		"aside":  "- ground, aside: files come",
		"middle": "- Requires ground v0.1.1.",
		"top":    "### Fixed\n\n- What it shows.",
	}, texts)
	r.Write(repotest.Files{"aside/y.txt": "y"})
	r.Git("tag", "--force", "aside/v0.1.0")
	assert.Equal(t, "- Changed: y.txt.", made(t, r).Modules[0].Changelog, "nothing is committed yet")
}

func TestCodeThatDoesNotCompile(t *testing.T) {
	t.Parallel()
	r := tagged(t)
	r.Write(repotest.Files{"ground/ground.go": "package ground\n\nfunc Depth() int { return x }\n"})
	_, err := plan.Make(t.Context(), r.Open(), day)
	require.ErrorContains(t, err, "module example.com/kit/ground: ")
	assert.ErrorContains(t, err, "undefined: x")
	r.Tag("aside/v0.2.0")
	r.Write(repotest.Files{"ground/ground.go": fixedGround})
	r.Git("commit", "--all", "--message", "broken: once")
	r.Write(repotest.Files{"aside/aside.go": "package aside\n\nvar Alone = x\n"})
	r.Commit("broken")
	r.Tag("aside/v0.3.0")
	r.Write(repotest.Files{"aside/aside.go": "package aside\n"})
	_, err = plan.Make(t.Context(), r.Open(), day)
	assert.ErrorContains(t, err, "module example.com/kit/aside before the change: ")
}

func TestText(t *testing.T) {
	t.Parallel()
	r := tagged(t)
	var out strings.Builder
	require.NoError(t, made(t, r).Write(&out))
	assert.Equal(t, "Nothing to release: no module has changed since its last tag.\n", out.String())
	r.Write(repotest.Files{
		"ground/ground.go": addedGround, "scratch/CHANGELOG.md": repotest.Changelog,
		"aside/aside.go": "// Package aside needs nobody.\npackage aside\n",
	})
	out.Reset()
	require.NoError(t, made(t, r).Write(&out))
	assert.Equal(t, `MODULE    LAST     NEXT     CHANGE     WHY
aside     v0.1.0   v0.2.0   breaking   breaking: Alone: removed; changed: aside.go
ground    v0.1.0   v0.2.0   added      added: Deeper: added; changed: ground.go
middle    v0.1.0   v0.1.1   fixed      requires: ground v0.2.0
top       v0.1.0   v0.1.1   fixed      requires: ground v0.2.0, middle v0.1.1
scratch   -        v0.1.0   added      first release

Changes of APIs (- breaks callers, + is new):
  aside
    - Alone: removed
  ground
    + Deeper: added

Tags, in this order:
  aside/v0.2.0
  ground/v0.2.0
  middle/v0.1.1
  top/v0.1.1
  scratch/v0.1.0

Changelogs:
  aside/CHANGELOG.md
    ## v0.2.0 - 2026-05-04

    - Changed: aside.go.
  ground/CHANGELOG.md
    ## v0.2.0 - 2026-05-04

    - Changed: ground.go.
  middle/CHANGELOG.md
    ## v0.1.1 - 2026-05-04

    - Requires ground v0.2.0.
  top/CHANGELOG.md
    ## v0.1.1 - 2026-05-04

    - Requires ground v0.2.0.
    - Requires middle v0.1.1.
  scratch/CHANGELOG.md
    ## v0.1.0 - 2026-05-04

    - First release.
`, out.String())
}

func TestJSON(t *testing.T) {
	t.Parallel()
	r := tagged(t)
	r.Write(repotest.Files{"aside/README.md": "x"})
	text, err := json.Marshal(made(t, r))
	require.NoError(t, err)
	assert.JSONEq(t, `{
		"day": "2026-05-04T03:02:01Z", "commit": "`+r.Git("rev-parse", "HEAD")+`",
		"modules": [{
			"module": "aside", "path": "example.com/kit/aside", "last": "v0.1.0", "next": "v0.1.1", "tag": "aside/v0.1.1",
			"change": "fixed", "reasons": ["changed: README.md"], "files": ["README.md"], "changelog": "- Changed: README.md."
		}],
		"kept": {"example.com/kit/ground": "v0.1.0", "example.com/kit/middle": "v0.1.0", "example.com/kit/top": "v0.1.0"}
	}`, string(text))
}
