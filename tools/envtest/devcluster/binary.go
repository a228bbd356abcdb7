package devcluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/operkit/operkit/tools/envtest/internal/build"
)

// BinaryVariable is the environment variable with the path of a devcluster program. If it is set, that program is used
// instead of the program that is built from the source.
const BinaryVariable = "OPERKIT_DEVCLUSTER_BINARY"

// PreflightError lists everything that this machine lacks to build the program.
type PreflightError = build.PreflightError

// Binary returns the path of the devcluster program. If $OPERKIT_DEVCLUSTER_BINARY is set, it names the program.
// Otherwise Binary uses the program in the user's cache directory for the present source, Go version and system. If the
// cache has none, Binary builds it, which takes minutes and several gigabytes of caches. It writes the progress of the
// build to progress, unless progress is nil. The source is the folder tools/devcluster of the repository. Outside of
// the repository it is the published module with the same version as this module.
//
// Any number of processes may call Binary at once: one builds, the others print a message and wait. If the machine
// can't build the program, the error is a [*PreflightError] that lists everything that is missing. The build ends when
// ctx does.
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

// named returns the program at the path from the environment, or an error if it can't be run.
func named(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", BinaryVariable, err)
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return "", fmt.Errorf("%s: %s isn't a program that can be run", BinaryVariable, path)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", BinaryVariable, err)
	}
	return absolute, nil
}
