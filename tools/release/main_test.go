package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/operkit/operkit/tools/release/internal/repotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// call is one of the program.
type call struct {
	code           int
	stdout, stderr string
}

// in returns the program in a folder; a terminal answers what stdin has.
func in(dir string, stdin io.Reader) func(t *testing.T, args ...string) call {
	return func(t *testing.T, args ...string) call {
		t.Helper()
		var stdout, stderr bytes.Buffer
		p := program{
			dir: dir, stdin: stdin, stdout: &stdout, stderr: &stderr, terminal: stdin != nil, cache: filepath.Join(t.TempDir(), "cache"),
			now: func() time.Time { return time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC) },
		}
		code := p.run(t.Context(), args)
		_ = filepath.WalkDir(p.cache, func(path string, entry os.DirEntry, err error) error { // what a module cache has can't be removed else
			if err == nil && entry.IsDir() {
				err = os.Chmod(path, 0o755)
			}
			return err
		})
		return call{code, stdout.String(), stderr.String()}
	}
}

func TestPlanCommand(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, repotest.Standard())
	do := in(filepath.Join(r.Root, "top"), nil)
	text := do(t, "plan")
	assert.Equal(t, 0, text.code, text.stderr)
	assert.Regexp(t, `(?m)^middle   -      v0.1.0   added    first release$`, text.stdout)
	document := do(t, "plan", "-o", "json")
	assert.Equal(t, 0, document.code, document.stderr)
	var p struct {
		Modules []struct{ Module, Next string }
	}
	require.NoError(t, json.Unmarshal([]byte(document.stdout), &p))
	assert.Len(t, p.Modules, 4)
	assert.Equal(t, "", r.Git("tag", "--list"))

	r.Tag("aside/v0.1.0", "ground/v0.1.0", "middle/v0.1.0", "top/v0.1.0")
	text = do(t, "plan")
	assert.Equal(t, call{0, "Nothing to release: no module has changed since its last tag.\n", ""}, text)
}

func TestAPICommand(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, repotest.Standard())
	do := in(filepath.Join(r.Root, "top"), nil)
	r.Write(repotest.Files{"aside/more.go": "package aside\n\n// More is more.\nconst More = 1\n"})
	assert.Equal(t, call{0, "APIs since HEAD (- breaks callers, + is new):\n  aside\n    + More: added\n", ""}, do(t, "api", "--since", "HEAD"))
	r.Commit("more")
	r.Commit("nothing")
	assert.Equal(t, call{0, "APIs since HEAD~1: no change.\n", ""}, do(t, "api"), "the commit before this one is the default")
	assert.Equal(t, call{1, "", "release api: revision \"v9\": git knows no such commit\n"}, do(t, "api", "--since", "v9"))
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, repotest.Standard())
	do := in(r.Root, nil)
	for _, row := range []struct {
		reason string
		args   []string
		code   int
		stderr string
	}{
		{"another output", []string{"plan", "-o", "yaml"}, 2, "release plan: mistake in the arguments: --output \"yaml\": use text or json\n"},
		{"an argument", []string{"plan", "dag"}, 2, "release plan: mistake in the arguments: \"dag\": there are only flags\n"},
		{"a flag", []string{"apply", "--no"}, 2, "release apply: mistake in the arguments: unknown flag: --no\n"},
		{"a command", []string{"tag"}, 2, "release: mistake in the arguments: \"tag\": there is no such command\n"},
		{"a module", []string{"verify", "--module", "scratch"}, 1, "release verify: module \"scratch\": there is no such module: use one of aside, ground, middle, top\n"},
		{"nobody to ask", []string{"apply"}, 1, "release apply: the input isn't a terminal, so the question can't be asked: give --yes\n"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			got := do(t, row.args...)
			assert.Equal(t, row.code, got.code)
			assert.Equal(t, row.stderr, got.stderr)
		})
	}
	outside := t.TempDir()
	assert.Equal(t, call{1, "", "release plan: " + outside + ": no go.work and no .git here or in a folder above: run this inside of the repository\n"}, in(outside, nil)(t, "plan"))
	help := do(t)
	assert.Equal(t, 0, help.code)
	assert.Contains(t, help.stdout, "Plan, tag and verify releases")
}

func TestApplyAsks(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, answer string
		done           bool
	}{
		{"yes", "y\n", true}, {"in full", " Yes \n", true}, {"no", "n\n", false}, {"just enter", "\n", false}, {"the end", "", false}, {"something", "yep\n", false},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			r := repotest.New(t, repotest.Standard())
			got := in(r.Root, strings.NewReader(row.answer))(t, "apply")
			plan, rest, asked := strings.Cut(got.stdout, "\nMake these tags? [y/N] ")
			require.True(t, asked, got.stdout)
			assert.Contains(t, plan, "Tags, in this order:\n  aside/v0.1.0\n", "the plan comes first")
			if !row.done {
				assert.Equal(t, call{1, got.stdout, "release apply: nothing was changed: the answer wasn't yes\n"}, got)
				assert.Equal(t, "", r.Git("tag", "--list"))
				return
			}
			assert.Equal(t, 0, got.code, got.stderr)
			assert.Regexp(t, `^\n4 tags on [0-9a-f]{12}; nothing is pushed yet:\n  git push --atomic REMOTE main aside/v0.1.0 ground/v0.1.0 middle/v0.1.0 top/v0.1.0\n$`, rest)
			assert.Len(t, strings.Fields(r.Git("tag", "--list")), 4)
		})
	}
}

func TestApplyWithoutAsking(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, repotest.Standard())
	got := in(r.Root, nil)(t, "apply", "--yes")
	assert.Equal(t, 0, got.code, got.stderr)
	again := in(r.Root, nil)(t, "apply", "--yes")
	assert.Equal(t, call{1, "", "release apply: nothing to release: no module has changed since its last tag\n"}, again)
}

func TestVerifyCommand(t *testing.T) {
	t.Parallel()
	files := repotest.Standard()
	files["aside/aside_test.go"] = "package aside\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) { t.Fatal(\"on purpose\") }\n"
	r := repotest.New(t, files)
	got := in(r.Root, nil)(t, "verify", "--module", "aside,ground")
	assert.Equal(t, 1, got.code)
	assert.Regexp(t, `(?s)^aside v0\.0\.0-\S+ FAILED\n    test: .*on purpose.*\n\nMODULE +VERSION +MODULES COMPILED +PACKAGES +BINARY +OK\n`+
		`aside +v0\.0\.0-\S+ +0 +1 +\d\.\d MB +FAILED\nground +v0\.0\.0-\S+ +0 +1 +\d\.\d MB +ok\nVERIFIED ok=1 failed=1\n$`, got.stdout)
	assert.Contains(t, got.stderr, "aside: test FAILED\n")
	got = in(r.Root, nil)(t, "verify", "--module", "aside", "--no-tests", "--planned")
	assert.Equal(t, 0, got.code, got.stderr)
	assert.Regexp(t, `(?m)^aside +v0\.1\.0 `, got.stdout)
}
