package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReport(t *testing.T) {
	t.Parallel()
	g := released(t)
	g.write(".gitattributes", "*.png filter=lfs\n", 0o644)
	g.write("a.png", "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 5\n", 0o644)
	g.commit("with Git LFS")
	g.git("tag", "3.0.0")
	made := filepath.Join(t.TempDir(), "versions")
	r := done(t, "", "-s", g.dir, "-d", made, "-b", "release/.*", "--verify")
	commit := func(name string) string { return repository{t, made}.git("rev-parse", name)[:12] }
	tree := func(name string) string { return g.git("rev-parse", name+"^{tree}")[:12] }
	report, summary, found := strings.Cut(r.stdout, made+": ")
	require.True(t, found, r.stdout)
	assert.Equal(t, strings.Join([]string{
		"KEPT        KIND     COMMIT         TREE",
		"1.1.0       tag      " + commit("1.1.0") + "   " + tree("1.1.0"),
		"1.2.0       tag      " + commit("1.2.0") + "   " + tree("1.2.0"),
		"3.0.0       tag      " + commit("3.0.0") + "   " + tree("3.0.0"),
		"v2.0.0      tag      " + commit("v2.0.0") + "   " + tree("v2.0.0"),
		"release/x   branch   " + commit("release/x") + "   " + tree("release/x"),
		"", "SKIPPED     KIND     REASON",
		"9.9.9-rc1   tag      no expression matches its name",
		"main        branch   no expression matches its name", "", "",
	}, "\n"), report)
	assert.Regexp(t, `^5 versions, \d+ objects, [\d.]+ kB \(source: [\d.]+ kB\), in [\d.]+m?s, verified\n$`, summary)
	assert.Regexp(t, `^reading 5 versions\npacking (\d+) objects\nverifying (\d+) objects\nwarning: a.png: its content is kept by Git LFS elsewhere \(in 3.0.0\)\n$`, r.stderr)
	r = done(t, "", "-s", g.dir, "-d", made+"2", "--dry-run")
	assert.Regexp(t, `versions2: nothing is written: the new repository would have 4 versions, \d+ objects \(source: [\d.]+ kB\)\n$`, r.stdout)
	assert.NoDirExists(t, made+"2")
}

func TestQuiet(t *testing.T) {
	t.Parallel()
	g, base := released(t), t.TempDir()
	assert.Equal(t, result{}, done(t, base, "-s", g.dir, "-q", "--verify"))
	r := run(t, base, "-s", g.dir, "-q")
	assert.Equal(t, 2, r.code)
	assert.Empty(t, r.stdout)
	assert.Equal(t, "setup-vcs: setup operator_vcs: it isn't empty: use force to replace it\n", r.stderr, "but for errors")
	r = done(t, base, "-s", g.dir, "-qfo", "json")
	assert.Empty(t, r.stderr)
	assert.True(t, json.Valid([]byte(r.stdout)), "and for the document that is asked for")
}

// fields are the names in a document, of lists those of what is in them.
func fields(t *testing.T, before string, value any) (all []string) {
	t.Helper()
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			all = append(append(all, before+name), fields(t, before+name+".", inner)...)
		}
	case []any:
		for _, inner := range value {
			all = append(all, fields(t, before, inner)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestDocument(t *testing.T) {
	t.Parallel()
	g := released(t)
	made := filepath.Join(t.TempDir(), "versions")
	r := done(t, "", "-s", g.dir, "-d", made, "-o", "json", "--verify", "--tags-as=tags", "-b", "release/.*")
	var document map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &document))
	assert.Equal(t, []string{
		"bytes", "destination", "dryRun", "kept", "kept.commit", "kept.kind", "kept.name", "kept.ref", "kept.sourceCommit", "kept.sourceRef", "kept.tree", "objects",
		"root", "seconds", "skipped", "skipped.kind", "skipped.name", "skipped.reason", "source", "sourceBytes", "verified", "warnings",
	}, fields(t, "", document), "whoever reads it relies on these names")
	packs, err := filepath.Glob(filepath.Join(made, ".git", "objects", "pack", "*.pack"))
	require.NoError(t, err)
	pack, err := os.Stat(packs[0])
	require.NoError(t, err)
	result := repository{t, made}
	assert.Equal(t, g.dir, document["source"])
	assert.Equal(t, made, document["destination"])
	assert.Equal(t, []any{false, true}, []any{document["dryRun"], document["verified"]})
	assert.Equal(t, result.git("rev-parse", "HEAD"), document["root"])
	assert.EqualValues(t, pack.Size(), document["bytes"])
	assert.Len(t, strings.Fields(result.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")), int(document["objects"].(float64)))
	assert.Greater(t, document["sourceBytes"], 0.0)
	assert.Greater(t, document["seconds"], 0.0)
	assert.Equal(t, []any{}, document["warnings"], "a list also when it is empty")
	kept := document["kept"].([]any)
	require.Len(t, kept, 4)
	assert.Equal(t, map[string]any{
		"kind": "tag", "name": "v2.0.0", "sourceRef": "refs/tags/v2.0.0", "sourceCommit": g.git("rev-parse", "v2.0.0^{commit}"),
		"ref": "refs/tags/v2.0.0", "commit": result.git("rev-parse", "v2.0.0"), "tree": g.git("rev-parse", "v2.0.0^{tree}"),
	}, kept[2])
	assert.Equal(t, map[string]any{"kind": "tag", "name": "9.9.9-rc1", "reason": "no expression matches its name"}, document["skipped"].([]any)[0])
	r = done(t, "", "-s", g.dir, "-d", made+"2", "-o", "json", "--verify", "--dry-run")
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &document))
	assert.Equal(t, []any{true, false, 0.0}, []any{document["dryRun"], document["verified"], document["bytes"]})
}

// What somebody has put into a name doesn't reach the terminal.
func TestNamesAreEscaped(t *testing.T) {
	t.Parallel()
	g := released(t)
	g.git("pack-refs", "--all")
	file, err := os.OpenFile(filepath.Join(g.dir, ".git", "packed-refs"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	for _, name := range []string{"\x1b]0;owned\x07", "\u202e0.0.1", "a\x9b2Jb", "\x7fdel"} {
		_, err := file.WriteString(g.git("rev-parse", "HEAD") + " refs/tags/zz" + name + "\n")
		require.NoError(t, err)
	}
	require.NoError(t, file.Close())
	for _, args := range [][]string{{"-t", ".*"}, {}, {"-t", "zz\x1b[31m"}, {"-t", "\x1b("}, {"-d", "a\x1b[31m"}, {"-s", "a\x1b[31m"}, {"--\x1b[31m"}, {"\x1b[31m"}} {
		r := run(t, t.TempDir(), append([]string{"-s", g.dir}, args...)...)
		for _, letter := range r.stdout + r.stderr {
			assert.True(t, letter == '\n' || letter >= ' ' && letter != 0x7f && letter != 0x9b && letter != 0x202e, "%q", r.stdout+r.stderr)
		}
	}
	r := done(t, t.TempDir(), "-s", g.dir, "-t", ".*")
	assert.Contains(t, r.stdout, `zz\x1b]0;owned\a`)
	assert.Contains(t, r.stdout, `zz\u202e0.0.1   tag    `)
}

func TestBrokenPipe(t *testing.T) {
	t.Parallel()
	g := released(t)
	for _, args := range [][]string{{}, {"-o", "json"}, {"--verify"}} {
		made := filepath.Join(t.TempDir(), "versions")
		command := exec.Command(program, append([]string{"-s", g.dir, "-d", made}, args...)...)
		reader, writer, err := os.Pipe()
		require.NoError(t, err)
		require.NoError(t, reader.Close())
		command.Stdout, command.Stderr = writer, writer
		r := finish(t, command)
		require.NoError(t, writer.Close())
		assert.Equal(t, 0, r.code, "who doesn't read the report doesn't stop the work")
		assert.Empty(t, repository{t, made}.git("fsck", "--strict", "--full"))
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	command := exec.Command(program, "-s", g.dir, "-d", filepath.Join(t.TempDir(), "versions"))
	command.Stdout = full
	r := finish(t, command)
	require.NoError(t, full.Close())
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.stderr, "setup-vcs: the repository was made, but the report can't be written: ")
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"-h"}, {"-s", "x", "--help"}} {
		page := done(t, "", args...)
		assert.Empty(t, page.stderr)
		for _, want := range []string{
			"setup-vcs - Make a git repository of single versions", "\nUsage:\n  setup-vcs --source PATH", "\nExamples:\n", "\nFlags:\n  -s, --source PATH ", "\nExpressions:\n", "\nReport:\n",
			"\nExit codes:\n  0     ", "\n  130   it was interrupted\n", "\nEnvironment:\n",
		} {
			assert.Contains(t, page.stdout, want)
		}
		for line := range strings.Lines(page.stdout) {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), 81, "%q", line)
		}
	}
	assert.Regexp(t, `^setup-vcs \S+\n$`, done(t, "", "--version").stdout)
}
