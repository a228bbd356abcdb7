package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whatever is wrong is said in one line, with the exit code that it has, before anything is touched.
func TestBadInput(t *testing.T) {
	t.Parallel()
	g, base := released(t), t.TempDir()
	at := func(name string) string { return filepath.Join(base, name) }
	require.NoError(t, os.WriteFile(at("file"), nil, 0o600))
	require.NoError(t, os.MkdirAll(at("full/theirs"), 0o755))
	require.NoError(t, os.MkdirAll(at("plain"), 0o755))
	require.NoError(t, os.Symlink(at("full"), at("link")))
	require.NoError(t, os.Symlink(filepath.Dir(g.dir), at("above")))
	empty, broken := newRepository(t), released(t)
	require.NoError(t, os.WriteFile(filepath.Join(broken.dir, ".git", "refs", "tags", "5.0.0"), []byte(strings.Repeat("5", 40)+"\n"), 0o600))
	newer := newRepository(t)
	newer.git("config", "core.repositoryformatversion", "1")
	newer.git("config", "extensions.refstorage", "reftable")
	source := "-s " + g.dir
	before := names(t, base)
	for _, row := range []struct {
		reason, args string
		code         int
		want         string
	}{
		{"no argument", "", 2, "no source is given: name it with --source: see 'setup-vcs --help'"},
		{"an unknown flag", source + " --expr x", 2, "unknown flag: --expr: use one of --source, --destination, --tag-expr, "},
		{"an unknown letter", source + " -x", 2, "unknown shorthand flag: 'x' in -x: use one of --source, "},
		{"a flag without its value", source + " -te", 2, "flag needs an argument: 't' in -t: see 'setup-vcs --help'"},
		{"an argument", g.dir, 2, "unexpected argument: give the repository with --source"},
		{"expressions after one flag, as oper8 has it", source + " -te 1 2", 2, `"2": unexpected argument: repeat the flag for each expression`},
		{"tags and none", source + " -t 1 --no-tags -b main", 2, "--no-tags and --tag-expr: use one of them"},
		{"nothing at all", source + " --no-tags", 2, "--no-tags: name branches with --branch-expr, or nothing is kept"},
		{"an unknown report", source + " -o yaml", 2, `--output "yaml": use text or json`},
		{"an unknown kind of result", source + " -d " + at("new") + " --tags-as leaves", 2, `TagsAs "leaves": use branches or tags`},
		{"vcs W16: a bad expression", source + " -f -d " + at("full") + " -t ok -t v[z-a]", 2, `tag expression 2, "v[z-a]": invalid character class range: "z-a", at character 3`},
		{"vcs W16: a bad expression for branches", source + " -f -d " + at("full") + " -b (", 2, `branch expression 1, "(": missing closing )`},
		{"what looks ahead", source + " -d " + at("new") + " -t (?!rc).*", 2, "invalid or unsupported Perl syntax"},
		{"vcs 23: a source that isn't there", "-s " + at("nowhere") + " -d " + at("new"), 2, "open " + at("nowhere") + ": there is no such folder"},
		{"vcs 23: a source that is no repository", "-s " + at("plain") + " -d " + at("new"), 2, "it isn't a git repository"},
		{"vcs W21: inside of one", "-s " + filepath.Join(g.dir, "charts") + " -d " + at("new"), 2, "it isn't a git repository"},
		{"a source that is a file", "-s " + at("file") + " -d " + at("new"), 2, "it isn't a folder"},
		{"a source that is an address", "-s https://example.com/a.git -d " + at("new"), 2, "the source has to be a path: clone this URL with 'git clone --mirror' first"},
		{"another address", "-s git@example.com:a.git -d " + at("new"), 2, "the source has to be a path"},
		{"a source without commits", "-s " + empty.dir + " -d " + at("new"), 2, "the source has no commits"},
		{"a source that is too new", "-s " + newer.dir + " -d " + at("new"), 2, "convert it with 'git refs migrate --ref-format=files'"},
		{"a version that is broken", "-s " + broken.dir + " -d " + at("new"), 1, "refs/tags/5.0.0: object 5555555555555555555555555555555555555555: object not found"},
		{"vcs 23: a file as destination", source + " -f -d " + at("file"), 2, "it is a file"},
		{"a file above the destination", source + " -f -d " + at("file/new"), 2, "not a directory"},
		{"vcs W16: a link as destination", source + " -f -d " + at("link"), 2, "it is a symbolic link: name its target"},
		{"vcs 23: something is there", source + " -d " + at("full"), 2, "it isn't empty: use force to replace it"},
		{"vcs W16: the source itself", source + " -f -d " + g.dir, 2, "it is the source"},
		{"vcs W16: by another name", source + " -f -d " + at("above/source"), 2, "it is the source"},
		{"vcs W16: inside of the source", source + " -d " + g.dir + "/operator_vcs", 2, "it is inside the source " + g.dir + ": choose a folder beside the source"},
		{"vcs W16: inside of its repository", source + " -f -d " + g.dir + "/.git/objects", 2, "it is inside the source"},
		{"vcs W16: around it", source + " -f -d " + filepath.Dir(g.dir), 2, "the source " + g.dir + " is inside it"},
		{"the whole system", source + " -f -d /", 2, "the source " + g.dir + " is inside it"},
		{"vcs 27: nothing matches", source + " -d " + at("new") + " -t 9.9.9", 3, "no expression matches any of the 4 tags and 2 branches of the source, such as tag 9.9.9-rc1, "},
		{"vcs 27: nothing matches, in a dry run", source + " -d " + at("new") + " -t 7 --dry-run", 3, "choose what to keep with --tag-expr and --branch-expr"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			r := run(t, base, strings.Fields(row.args)...)
			assert.Equal(t, row.code, r.code)
			assert.Empty(t, r.stdout)
			assert.Contains(t, r.stderr, row.want)
			lines := strings.Split(strings.TrimSpace(r.stderr), "\n")
			assert.True(t, strings.HasPrefix(lines[len(lines)-1], "setup-vcs: "), r.stderr)
			assert.Equal(t, before, names(t, base), "nothing is made")
			assert.Equal(t, []string{"theirs"}, names(t, at("full")), "nothing is touched")
			assert.NotContains(t, r.stderr, "goroutine")
		})
	}
	t.Run("an empty expression, as of a variable that isn't set", func(t *testing.T) {
		r := run(t, base, "-s", g.dir, "-d", at("new"), "-t", "")
		assert.Equal(t, 2, r.code)
		assert.Contains(t, r.stderr, "tag expression 1 is empty")
	})
	t.Run("an empty destination", func(t *testing.T) {
		r := run(t, base, "-s", g.dir, "-d", "")
		assert.Equal(t, 2, r.code)
		assert.Contains(t, r.stderr, "setup destination: no path is given")
	})
}

// Of many names those that are near are told, and not all of them.
func TestNoMatchAmongMany(t *testing.T) {
	t.Parallel()
	g := released(t)
	var refs strings.Builder
	id := g.git("rev-parse", "HEAD")
	for i := range 200 {
		fmt.Fprintf(&refs, "create refs/tags/nightly-%03d %s\n", i, id)
	}
	require.NoError(t, os.WriteFile(filepath.Join(g.dir, "refs.txt"), []byte(refs.String()), 0o600))
	g.git("-c", "alias.feed=!git update-ref --stdin <refs.txt", "feed")
	r := run(t, "", "-s", g.dir, "-d", filepath.Join(t.TempDir(), "new"), "-t", "Nightly-1", "-q")
	assert.Equal(t, 3, r.code)
	assert.Contains(t, r.stderr, "no expression matches any of the 204 tags and 2 branches of the source, such as tag nightly-100, ")
	assert.Equal(t, 10, strings.Count(r.stderr, "tag nightly-"))
	assert.Equal(t, 1, strings.Count(r.stderr, "\n"))
	assert.Less(t, len(r.stderr), 500)
}
