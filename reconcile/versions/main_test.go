package versions_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/versions"
	"github.com/operkit/operkit/reconcile/versions/child"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// programs are what the test binary can be when it is started as a version, by the name of its entry.
var programs = map[string]func(ctx context.Context, version string) error{
	"house": func(ctx context.Context, version string) error {
		return child.Serve(ctx, version, []reconcile.Controller{House{version}})
	},
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve-version" {
		os.Exit(serve())
	}
	goleak.VerifyTestMain(m)
}

// serve is the main function of a version. It has the folder of the version as its own.
func serve() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	folder, err := os.Getwd()
	if err == nil {
		program, ok := programs[filepath.Base(os.Args[0])]
		if !ok {
			err = fmt.Errorf("there is no program %s", os.Args[0])
		} else {
			err = program(ctx, filepath.Base(folder))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// folder makes a folder with versions of a program.
func folder(t testing.TB, program string, names ...string) versions.Options {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	base := t.TempDir()
	for _, name := range names {
		require.NoError(t, os.MkdirAll(filepath.Join(base, name, "bin"), 0o755))
		require.NoError(t, os.Symlink(self, filepath.Join(base, name, "bin", program)))
	}
	return versions.Options{
		Directory: base, Entry: filepath.Join("bin", program), Logger: slog.New(slog.DiscardHandler),
		Environment: append(os.Environ(), "GORACE=atexit_sleep_ms=0"), // else the race detector has each take a second to end
	}
}

// start starts the versions of a program.
func start(t testing.TB, options versions.Options) *versions.Pool {
	t.Helper()
	pool, err := versions.Start(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}
