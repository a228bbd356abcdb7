package devcluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/operkit/operkit/tools/envtest/internal/build"
)

// BinaryVariable names the environment variable with the path of the devcluster program to use as it is, instead of the
// one that belongs to the source.
const BinaryVariable = "OPERKIT_DEVCLUSTER_BINARY"

// PreflightError lists everything that this machine lacks to build the program.
type PreflightError = build.PreflightError

// Binary returns the path of the devcluster program. That is the one that $OPERKIT_DEVCLUSTER_BINARY names, or else the
// one in the user's cache directory for the present source, Go version and system. If that doesn't exist, Binary builds
// it, which takes minutes and several gigabytes of caches, and writes the progress to progress unless that is nil. The
// source is the folder tools/devcluster of the repository, or outside of it the published module of this module's
// version.
//
// Any number of processes may call it at once: one builds, the others wait and print that they do. A machine that can't
// build returns a [*PreflightError] with everything that is missing. The build ends when ctx does.
func Binary(ctx context.Context, progress io.Writer) (path string, err error) {
	if path, given := os.LookupEnv(BinaryVariable); given && path != "" {
		return named(path)
	}
	userCache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("devcluster cache: %w", err)
	}
	cache := filepath.Join(userCache, "operkit", "devcluster")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("devcluster cache: %w", err)
	}
	finder, err := build.NewFinder(cache)
	if err != nil {
		return "", err
	}
	source, err := finder.Find(ctx)
	if err != nil {
		return "", err
	}
	builder := build.Builder{Cache: cache, Source: source, Progress: progress, Environ: os.Environ(), Machine: build.Host{}}
	return builder.Binary(ctx)
}

// named checks the program that the environment names.
func named(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", BinaryVariable, err)
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return "", fmt.Errorf("%s: %s is no program that can be run", BinaryVariable, path)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", BinaryVariable, err)
	}
	return absolute, nil
}
