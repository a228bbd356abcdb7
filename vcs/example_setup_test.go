package vcs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/operkit/operkit/vcs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func ExampleSetup_verified() {
	source, remove := shop()
	defer remove()
	destination := source + "-versions"
	defer func() { _ = os.RemoveAll(destination) }()
	phase := vcs.Phase("")
	report, err := vcs.Setup(context.Background(), vcs.SetupOptions{
		Source: source, Destination: destination, Tags: []string{`1\.1\..*`}, Verify: true,
		Progress: func(p vcs.Progress) {
			if p.Phase != phase {
				phase = p.Phase
				fmt.Println(p.Phase, p.Total)
			}
		},
	})
	fmt.Println(len(report.Kept), "version,", report.Objects, "objects,", err)
	// Output:
	// reading 1
	// packing 3
	// verifying 3
	// 1 version, 3 objects, <nil>
}

func ExampleNoMatchError() {
	source, remove := shop()
	defer remove()
	_, err := vcs.Setup(context.Background(), vcs.SetupOptions{Source: source, Destination: source + "-versions", Tags: []string{`2\..*`}})
	var none *vcs.NoMatchError
	if errors.As(err, &none) {
		fmt.Println(none)
	}
	// Output: no expression matches any of the 2 tags and 2 branches of the source, such as tag 1.0.0, tag 1.1.0, branch main, branch release/1.x
}

func ExampleCanonicalVersion() {
	for _, text := range []string{"v1.2.0", "1.2", "1.02.0-RC.1", "release/1.2"} {
		fmt.Println(vcs.CanonicalVersion(text))
	}
	// Output:
	// 1.2.0 true
	// 1.2.0 true
	// 1.2.0-RC.1 true
	//  false
}

// find is what the README shows.
func find(ctx context.Context, repository *vcs.Repository) (string, error) {
	number, ok := vcs.CanonicalVersion("v1.1")
	versions, err := repository.SupportedVersions(ctx, vcs.Tag)
	if err != nil || !ok {
		return "", err
	}
	for _, version := range versions {
		if version.Number == number {
			return version.Ref.Full, nil
		}
	}
	return "", nil
}

func TestReadmeVersions(t *testing.T) {
	t.Parallel()
	source, remove := shop()
	defer remove()
	repository, err := vcs.Open(source)
	require.NoError(t, err)
	defer func() { require.NoError(t, repository.Close()) }()
	got, err := find(t.Context(), repository)
	require.NoError(t, err)
	assert.Equal(t, "refs/tags/1.1.0", got)
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	own, err := os.ReadFile("example_setup_test.go")
	require.NoError(t, err)
	blocks := strings.Split(string(readme), "```go\n")
	require.Len(t, blocks, 3)
	code, _, _ := strings.Cut(blocks[2], "\n```")
	assert.Contains(t, string(own), "\t"+strings.ReplaceAll(code, "\n", "\n\t"))
}
