package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/operkit/operkit/tools/envtest"
)

// call runs the command as main does.
func call(ctx context.Context, stdin string, args ...string) (stdout, stderr string, code int) {
	var out, said bytes.Buffer
	code = run(ctx, args, strings.NewReader(stdin), &out, &said)
	return out.String(), said.String(), code
}

// shop is a copy of the folder with twelve manifests, among them a CustomResourceDefinition and an object of it.
func shop(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.CopyFS(folder, os.DirFS("testdata/shop")))
	return folder
}

// One folder is applied, applied again, changed, and loses a file.
func TestShop(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.OwnCluster()) // it leaves a definition behind
	everything := envtest.ClusterWide(
		rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
		rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"*"}})
	user := env.User(t, "deployer", everything)
	folder := shop(t)
	common := []string{"-f", folder, "-n", env.Namespace, "--kubeconfig", env.Kubeconfig(t, user), "--applyset", "shop", "--prune"}
	apply := func(args ...string) (string, *envtest.Calls) {
		mark := env.Mark(t)
		stdout, stderr, code := call(t.Context(), "", append(common, args...)...)
		require.Zero(t, code, "%s%s", stdout, stderr)
		assert.Empty(t, stderr)
		calls := env.CallsSince(t, mark, user)
		return stdout, &calls
	}

	stdout, _ := apply("--diff")
	assert.Contains(t, stdout, "+++ CustomResourceDefinition carts.apply.example.com")
	assert.Contains(t, stdout, "+  owner: ada", "what can't be tried yet is shown as it was given")
	assert.NotContains(t, stdout, "not-a-real-one")

	stdout, _ = apply("--wait")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	assert.Len(t, lines, 13, stdout)
	assert.Contains(t, lines[0], "CustomResourceDefinition carts.apply.example.com")
	assert.Equal(t, "12 created", lines[12])
	assert.Contains(t, stdout, "Deployment "+env.Namespace+"/web")
	assert.Equal(t, 12, strings.Count(stdout, " Ready"), stdout)

	stdout, calls := apply("--diff")
	assert.Equal(t, "12 unchanged\n", stdout, "that nothing would change is said")
	assert.Empty(t, calls.Writes())
	stdout, calls = apply()
	assert.Contains(t, stdout, "\n12 unchanged\n")
	assert.Empty(t, calls.Writes(), "an object that is as it should be isn't written")

	rewrite(t, filepath.Join(folder, "settings.yaml"), "hello", "good morning")
	stdout, calls = apply("--diff")
	assert.Contains(t, stdout, "-  greeting: hello\n+  greeting: good morning\n")
	assert.Empty(t, calls.Writes())
	stdout, calls = apply()
	assert.Contains(t, stdout, "\n1 configured, 11 unchanged\n")
	assert.Len(t, calls.Writes(), 1)

	require.NoError(t, os.Remove(filepath.Join(folder, "cart.yaml")))
	stdout, _ = apply("--diff")
	assert.Contains(t, stdout, "--- Cart "+env.Namespace+"/first (live)\n+++ /dev/null")
	stdout, calls = apply()
	assert.Contains(t, stdout, "Cart "+env.Namespace+"/first")
	assert.Contains(t, stdout, "\n11 unchanged, 1 deleted\n", "exactly that object")
	assert.Equal(t, 1, calls.Count()["delete carts.apply.example.com"], calls.Count())

	rewrite(t, filepath.Join(folder, "settings.yaml"), "kind: ConfigMap\nmetadata: {name: prices}", "kind: ConfigMap\nmetadata: {name: Prices}")
	stdout, stderr, code := call(t.Context(), "", common...)
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, "apply: "+filepath.Join(folder, "settings.yaml")+": document 2: ConfigMap "+env.Namespace+"/Prices: refused: ")
	assert.Contains(t, stdout, "1 failed")

	emptied := t.TempDir()
	common[1] = emptied
	_, stderr, code = call(t.Context(), "", common...)
	assert.Equal(t, exitInput, code)
	assert.Equal(t, "apply: "+emptied+": no object is in there: if everything of the set shop is to be deleted, say --prune-all\n", stderr)
	stdout, _ = apply("--prune-all")
	assert.Contains(t, stdout, "\n10 deleted, 1 skipped\n", "a definition would take objects along, and is kept")
}

func rewrite(t *testing.T, file, from, to string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), from)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), from, to, 1)), 0o600))
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	garbled := filepath.Join(t.TempDir(), "garbled.yaml")
	require.NoError(t, os.WriteFile(garbled, []byte("kind: ConfigMap\n---\nkind: [\n"), 0o600))
	absent := filepath.Join(empty, "absent")
	for name, row := range map[string]struct {
		stdin string
		args  []string
		says  string
	}{
		"no folder":          {"", nil, "no folder is named: give it with -f; --help tells more"},
		"one that is absent": {"", []string{"-f", absent}, absent + ": no such file or directory"},
		"an empty one":       {"", []string{"-f", empty}, empty + ": no object is in there"},
		"garbled YAML":       {"", []string{"-f", garbled}, garbled + ": document 2: "},
		"garbled input":      {"{", []string{"-f", "-"}, "standard input: document 1: "},
		"prune without a set": {"", []string{"-f", empty, "--prune"},
			"--applyset goes together with --prune or --prune-all: a set has to be remembered to find what left it"},
		"a set that isn't pruned": {"", []string{"-f", empty, "--applyset", "x"}, "--applyset goes together with --prune or --prune-all: "},
		"a key twice":             {"data: {}\ndata: {}", []string{"-f", "-"}, `standard input: document 1: `},
		"no time":                 {"", []string{"-f", empty, "--timeout", "0s"}, "--timeout 0s: want a time above 0"},
		"arguments":               {"", []string{"-f", empty, "x"}, `unknown command "x"`},
		"no such kubeconfig":      {"kind: ConfigMap", []string{"-f", "-", "--kubeconfig", absent}, absent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := call(t.Context(), row.stdin, row.args...)
			assert.Equal(t, exitInput, code)
			assert.Contains(t, stderr, row.says)
			assert.Empty(t, stdout)
		})
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	stdout, stderr, code := call(t.Context(), "", "--help")
	assert.Zero(t, code)
	assert.Empty(t, stderr)
	for _, flag := range []string{"--filename", "--applyset", "--prune", "--prune-all", "--diff", "--wait", "--timeout"} {
		assert.Contains(t, stdout, flag)
	}
}
