package vcs_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/vcs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shop makes a repository with the tags 1.0.0 and 1.1.0, for the examples.
func shop() (path string, remove func()) {
	path, err := os.MkdirTemp("", "shop")
	if err != nil {
		panic(err)
	}
	for _, line := range []string{
		"init -q", "commit -q --allow-empty -m first", "tag 1.0.0", "commit -q --allow-empty -m second", "tag 1.1.0", "branch -q release/1.x",
	} {
		command := exec.Command("git", append([]string{"-C", path, "-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"}, strings.Fields(line)...)...)
		command.Env = append(os.Environ(), "GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := command.CombinedOutput(); err != nil {
			panic(string(out))
		}
	}
	return path, func() { _ = os.RemoveAll(path) }
}

// openShop opens the repository of shop. remove closes it too.
func openShop() (repository *vcs.Repository, source string, remove func()) {
	source, removeShop := shop()
	repository, err := vcs.Open(source)
	if err != nil {
		panic(err)
	}
	return repository, source, func() {
		_ = repository.Close()
		removeShop()
	}
}

func Example() {
	source, remove := shop()
	defer remove()
	repository, err := vcs.Open(source)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = repository.Close() }()
	destination := filepath.Join(source+"-versions", "1.1.0")
	defer func() { _ = os.RemoveAll(filepath.Dir(destination)) }()
	for range 2 {
		checkout, err := repository.Checkout(context.Background(), "1.1.0", destination, vcs.Worktree)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(filepath.Base(checkout.Path), checkout.Reused)
	}
	// Output:
	// 1.1.0 false
	// 1.1.0 true
}

func ExampleRepository_Refs() {
	repository, _, remove := openShop()
	defer remove()
	refs, err := repository.Refs(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, ref := range refs {
		fmt.Println(ref.Kind, ref.Name)
	}
	// Output:
	// branch main
	// branch release/1.x
	// tag 1.0.0
	// tag 1.1.0
}

func ExampleRepository_Resolve() {
	repository, source, remove := openShop()
	defer remove()
	tag, err := repository.Resolve(context.Background(), "1.1.0")
	if err != nil {
		fmt.Println(err)
		return
	}
	branch, err := repository.Resolve(context.Background(), "release/1.x")
	fmt.Println(tag == branch, err)
	_, err = repository.Resolve(context.Background(), "main~1")
	fmt.Println(strings.ReplaceAll(err.Error(), source, "SHOP"))
	// Output:
	// true <nil>
	// resolve "main~1" in SHOP: it has a character that no name of a reference may have: a space, ~, ^, :, ?, *, [ or a backslash
}

func ExampleRepository_SupportedVersions() {
	repository, _, remove := openShop()
	defer remove()
	fmt.Println(repository.SupportedVersions(context.Background(), vcs.Tag))
	// Output: [1.0.0 1.1.0] <nil>
}

func ExampleRepository_Verify() {
	repository, source, remove := openShop()
	defer remove()
	destination := source + "-version"
	defer func() { _ = os.RemoveAll(destination) }()
	if _, err := repository.Checkout(context.Background(), "1.0.0", destination, vcs.Worktree); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(repository.Verify(context.Background(), destination))
	if err := os.WriteFile(filepath.Join(destination, "new"), nil, 0o600); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.HasSuffix(repository.Verify(context.Background(), destination).Error(), ": new isn't part of the commit"))
	// Output:
	// <nil>
	// true
}

func ExampleTemplate_Render() {
	template, err := vcs.ParseTemplate("/var/cache/versions/{version}/{kind}/{namespace}/{name}")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(template.Render(vcs.Values{Version: "1.2.3", Kind: "Shop", Namespace: "town", Name: "tea"}))
	fmt.Println(template.Render(vcs.Values{Version: "../../etc", Kind: "Shop", Name: "tea"}))
	// Output:
	// /var/cache/versions/1.2.3/Shop/town/tea <nil>
	// /var/cache/versions/%2E.%2F..%2Fetc/Shop/_cluster/tea <nil>
}

func ExampleParseTemplate() {
	_, err := vcs.ParseTemplate("/var/cache/versions/{release}")
	fmt.Println(err)
	// Output: template "/var/cache/versions/{release}": {release}: there is no such field: use version, kind, apiVersion, namespace, name, or a value such as {spec[channel]}
}

func ExamplePrune() {
	removed, err := vcs.Prune(context.Background(), "/var/cache/no-versions", func(string) bool { return false })
	fmt.Println(len(removed), err)
	// Output: 0 <nil>
}

func ExampleSetup() {
	source, remove := shop()
	defer remove()
	destination := source + "-versions"
	defer func() { _ = os.RemoveAll(destination) }()
	report, err := vcs.Setup(context.Background(), vcs.SetupOptions{Source: source, Destination: destination, Branches: []string{"release/.*"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, kept := range report.Kept {
		fmt.Println(kept.Ref.Kind, kept.Name)
	}
	for _, skipped := range report.Skipped {
		fmt.Println(skipped.Ref.Kind, skipped.Ref.Name+":", skipped.Reason)
	}
	// Output:
	// tag 1.0.0
	// tag 1.1.0
	// branch release/1.x
	// branch main: no expression matches its name
}

// use is what the README shows.
func use(ctx context.Context) error {
	repository, err := vcs.Open("/srv/versions")
	if err != nil {
		return err
	}
	defer repository.Close()
	checkout, err := repository.Checkout(ctx, "1.2.3", "/var/cache/versions/1.2.3", vcs.Worktree, vcs.ReadOnly())
	if err != nil {
		return err
	}
	fmt.Println(checkout.Path, "holds", checkout.Commit)
	return nil
}

func TestReadme(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, use(t.Context()), "open /srv/versions: there is no such folder")
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, code, found := strings.Cut(string(readme), "```go\n")
	require.True(t, found)
	code, _, _ = strings.Cut(code, "\n```")
	source, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	assert.Contains(t, string(source), "\t"+strings.ReplaceAll(code, "\n", "\n\t"))
}
