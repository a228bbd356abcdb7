package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// call runs the command as main does.
func call(ctx context.Context, args ...string) (stdout, stderr string, code int) {
	var out, said bytes.Buffer
	code = run(ctx, args, &out, &said)
	return out.String(), said.String(), code
}

// shop is a repository with three versions that git has made, and one name that is none.
func shop(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "shop")
	require.NoError(t, os.Mkdir(dir, 0o755))
	git(t, dir, "init", "-q", "-b", "main")
	for _, version := range []struct{ tag, text string }{
		{"1.0.0", "Hello {{.name}}!\n"},
		{"v1.2.0", "Good evening {{.name}}, we have {{.goods}}.\n"},
		{"2.0.0-rc.1", "{{.name}}? We are closed.\n"},
		{"newest", "{{"},
	} {
		release(t, dir, version.tag, version.text)
	}
	return dir
}

func release(t *testing.T, dir, tag, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "greeting.txt"), []byte(text), 0o644))
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", tag)
	git(t, dir, "tag", "-f", "-a", "-m", tag, tag)
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...)
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.com")
	out, err := command.CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, out)
}

// The README's sessions are what the command says, line by line.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Chdir(filepath.Dir(shop(t)))
	var shown, happened strings.Builder
	codes := map[int]int{}
	for i, block := range strings.Split(string(readme), "```") {
		session, isSession := strings.CutPrefix(block, "console\n")
		if i%2 == 0 || !isSession {
			continue
		}
		shown.WriteString(session)
		code := 0
		for line := range strings.Lines(session) {
			switch command := strings.TrimSpace(line); {
			case command == "$ echo $?":
				codes[code]++
				happened.WriteString(line + strconv.Itoa(code) + "\n")
			case strings.HasPrefix(command, "$ versions "):
				var stdout, stderr string
				stdout, stderr, code = call(t.Context(), strings.Fields(command)[2:]...)
				happened.WriteString(line + stdout + stderr)
			}
		}
	}
	assert.Equal(t, shown.String(), happened.String())
	assert.Equal(t, map[int]int{0: 1, 1: 1, 2: 1}, codes, "every exit code is shown")
}

func TestVersionsAreCheckedOutOnce(t *testing.T) {
	t.Parallel()
	dir, cache := shop(t), t.TempDir()
	greet := func(version string) string {
		stdout, stderr, code := call(t.Context(), "--repository", dir, "--cache", cache, "--version", version, "--template", "greeting.txt", "name=Ada", "goods=tea")
		require.Zero(t, code, stderr)
		return stdout
	}
	folders := func() int {
		entries, err := filepath.Glob(filepath.Join(cache, "[0-9a-f]*"))
		require.NoError(t, err)
		return len(entries)
	}
	for _, spelling := range []string{"1.2", "1.2.0", "v1.2.0", "1.02"} {
		assert.Equal(t, "Good evening Ada, we have tea.\n", greet(spelling))
		assert.Equal(t, 1, folders(), "all of these are one version")
	}
	assert.Equal(t, "Hello Ada!\n", greet("1.0"))
	assert.Equal(t, 2, folders())
	release(t, dir, "1.0.0", "Hi {{.name}}!\n")
	assert.Equal(t, "Hi Ada!\n", greet("1.0"), "a tag that is moved is what it is now")
	git(t, dir, "branch", "3.0.0")
	assert.Equal(t, "Hi Ada!\n", greet("3.0.0"), "a branch may be a version")
	assert.Equal(t, 3, folders(), "that of the same commit")
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	dir, empty := shop(t), filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(dir, "hostname")))
	release(t, dir, "6.6.6", "Good night.\n")
	require.NoError(t, os.Remove(filepath.Join(dir, "hostname")))
	release(t, dir, "7.0.0", "{{")
	git(t, filepath.Dir(dir), "init", "-q", empty)
	for _, row := range []struct {
		reason string
		args   []string
		want   string
		code   int
	}{
		{"no such version", []string{"--version", "4.0", "--template", "greeting.txt"}, `has no version "4.0": choose one of 1.0.0, 1.2.0, 2.0.0-rc.1, 6.6.6, 7.0.0`, exitFailed},
		{"the name of a tag that is no number", []string{"--version", "newest", "--template", "greeting.txt"}, `has no version "newest": choose one of`, exitFailed},
		{"a number of a version may lead nowhere else", []string{"--version", "../1.0.0", "--template", "greeting.txt"}, `has no version "../1.0.0"`, exitFailed},
		{"a repository without a version", []string{"--repository", empty, "--version", "1.0", "--template", "greeting.txt"}, "empty has no version: none of its tags", exitFailed},
		{"no repository", []string{"--repository", filepath.Join(empty, "none"), "--version", "1.0", "--template", "greeting.txt"}, filepath.Join(empty, "none"), exitFailed},
		{"no such template", []string{"--version", "1.0", "--template", "bill.txt"}, `version 1.0.0: it has no template "bill.txt"`, exitFailed},
		{"a template that is a folder", []string{"--version", "1.0", "--template", "."}, "is a directory", exitFailed},
		{"a template outside of the version", []string{"--version", "1.0", "--template", "../../../etc/hostname"}, "path escapes from parent", exitFailed},
		{"a link that leads out of the version", []string{"--version", "6.6.6", "--template", "greeting.txt"}, "hostname", exitFailed},
		{"a template that is none", []string{"--version", "7.0", "--template", "greeting.txt"}, "version 7.0.0: template: greeting.txt:1: unclosed action", exitFailed},
		{"a value that is missing", []string{"--version", "1.0", "--template", "greeting.txt", "Name=Ada"}, `no entry for key "name"`, exitFailed},
		{"an argument that is no value", []string{"--version", "1.0", "--template", "greeting.txt", "Ada"}, `argument "Ada": want NAME=VALUE`, exitUsage},
		{"a flag behind a value", []string{"--version", "1.0", "name=Ada", "--template", "greeting.txt"}, `argument "--template": want NAME=VALUE, after all flags`, exitUsage},
		{"no version", []string{"--template", "greeting.txt"}, "--version is missing", exitUsage},
		{"a flag that there isn't", []string{"--versoin", "1.0"}, "flag provided but not defined: -versoin", exitUsage}, //nolint:misspell // that is the mistake
		{"help is no mistake", []string{"--help"}, "usage: versions --repository DIR", 0},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := call(t.Context(), append([]string{"--repository", dir, "--cache", t.TempDir()}, row.args...)...)
			assert.Equal(t, row.code, code)
			assert.Empty(t, stdout, "nothing is printed of what can't be whole")
			assert.Contains(t, stderr, row.want)
		})
	}
}

// The program is what somebody makes who has nothing else of operkit.
func TestImportsTheModuleAlone(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").Output()
	require.NoError(t, err)
	var ours []string
	for module := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(module, "github.com/operkit/") && !strings.HasSuffix(module, "/examples") {
			ours = append(ours, module)
		}
		assert.NotContains(t, module, "k8s.io/")
	}
	assert.Subset(t, []string{"github.com/operkit/operkit/vcs"}, ours)
	assert.NotEmpty(t, ours)
}
