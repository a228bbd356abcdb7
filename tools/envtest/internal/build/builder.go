package build

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/operkit/operkit/tools/envtest/internal/filelock"
)

const (
	programName = "devcluster"
	lockName    = "lock"
	// flagsName is the file in the source folder with the build settings: lines KEY=value for the environment.
	flagsName = "build.env"
)

// Builder builds and caches the program of one source folder. All fields except Progress must be set.
type Builder struct {
	// Cache is the folder that holds the programs, each in a folder named by its hash. It is created if it doesn't
	// exist.
	Cache string
	// Source is the folder of the program's module. It may be read-only.
	Source string
	// Progress receives the progress of a build: one live line on a terminal, plain lines elsewhere. Nil shows nothing.
	Progress io.Writer
	// Environ is the environment of the go command.
	Environ []string
	// Machine reports the free disk space and memory.
	Machine Machine
}

// Binary returns the path of the program, and builds the program if it isn't cached. Any number of processes may call
// Binary at once: one builds, the others wait. If the machine can't build the program, the error is a
// [*PreflightError].
func (b Builder) Binary(ctx context.Context) (string, error) {
	g, err := b.gocmd()
	if err != nil {
		return "", err
	}
	hash, err := Hash(b.Source, b.goVersion(ctx, g), runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return "", err
	}
	path := filepath.Join(b.Cache, hash, programName)
	if found := usable(path, time.Now()); found != "" {
		return found, nil
	}
	if err := os.MkdirAll(b.Cache, 0o755); err != nil {
		return "", fmt.Errorf("devcluster cache: %w", err)
	}
	show := newMeter(b.Progress, time.Now)
	lock, err := filelock.Acquire(ctx, filepath.Join(b.Cache, lockName), func(holder int) {
		show.say("waiting for process %d, which is building devcluster", holder)
	})
	if err != nil {
		return "", fmt.Errorf("devcluster build: %w", err)
	}
	defer func() { _ = lock.Release() }() // ends with the process anyway
	if found := usable(path, time.Now()); found != "" {
		return found, nil
	}
	// The go command shares the lock. If this process dies, other processes wait until its go command has ended.
	g.share = []*os.File{lock.File()}
	if err := b.build(ctx, g, path, show); err != nil {
		return "", err
	}
	clean(b.Cache, path, time.Now())
	return path, nil
}

// gocmd returns the go command for the source folder, with the environment from the folder's build.env.
func (b Builder) gocmd() (gocmd, error) {
	text, err := os.ReadFile(filepath.Join(b.Source, flagsName))
	if err != nil {
		return gocmd{}, fmt.Errorf("devcluster source: build settings: %w", err)
	}
	g := gocmd{dir: b.Source, env: b.Environ}.with("GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	for line := range strings.Lines(string(text)) {
		key, value, found := strings.Cut(strings.TrimSpace(line), "=")
		if !found || strings.HasPrefix(key, "#") {
			continue
		}
		if inner, ok := strings.CutPrefix(value, `"`); ok {
			value = strings.TrimSuffix(inner, `"`)
		}
		g = g.with(key + "=" + value)
	}
	return g, nil
}

// goVersion returns the Go version that would compile the source. Without a go command it returns the version that
// compiled the running program, so that a machine without Go finds a devcluster program in the cache.
func (b Builder) goVersion(ctx context.Context, g gocmd) string {
	out, err := g.output(ctx, "env", "GOVERSION")
	if err != nil {
		return runtime.Version()
	}
	return strings.TrimSpace(out)
}

func (b Builder) build(ctx context.Context, g gocmd, path string, show *meter) error {
	defer show.end()
	packages, err := b.preflight(ctx, g)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("devcluster cache: %w", err)
	}
	show.say("building %s (the first time some four minutes on two cores, later seconds)", path)
	stop := every(time.Second, show.tick)
	defer stop()
	if packages == nil {
		show.begin("fetching modules", 0)
		if packages, err = b.packages(ctx, g, show); err != nil {
			return fmt.Errorf("devcluster build: %w", err)
		}
	}
	beside := filepath.Join(filepath.Dir(path), "."+programName+"-new")
	if err := b.compile(ctx, g, beside, packages, show); err != nil {
		_ = os.RemoveAll(filepath.Dir(path)) // the folder holds nothing else
		return fmt.Errorf("devcluster build: %w", err)
	}
	if err := os.Rename(beside, path); err != nil {
		return fmt.Errorf("devcluster cache: %w", err)
	}
	show.say("built %s in %s", path, show.elapsed())
	return nil
}

// packages lists the packages that the program links, in an order in which they can be compiled. It fetches missing
// modules, and shows how many.
func (b Builder) packages(ctx context.Context, g gocmd, show *meter) ([]string, error) {
	fetched := 0
	out, err := g.run(ctx, func(line string) bool {
		module, found := strings.CutPrefix(line, "go: downloading ")
		if found && show != nil {
			fetched++
			show.reach(fetched, module)
		}
		return found
	}, "list", "-deps", ".")
	if err != nil {
		return nil, err
	}
	return strings.Fields(out), nil
}

// compile builds the program, and shows how many of the packages the go command has compiled. The go command doesn't
// print cached packages, so a build with many cached packages ends before the meter reaches 100 %.
func (b Builder) compile(ctx context.Context, g gocmd, path string, packages []string, show *meter) error {
	waiting := make(map[string]bool, len(packages))
	for _, name := range packages {
		waiting[name] = true
	}
	compiled := 0
	show.begin("compiling", len(packages))
	_, err := g.run(ctx, func(line string) bool {
		if !waiting[line] {
			return false
		}
		waiting[line] = false
		compiled++
		show.reach(compiled, line)
		if line == packages[len(packages)-1] {
			show.begin("linking", 0)
		}
		return true
	}, "build", "-v", "-o", path, ".")
	return err
}

// every calls f at intervals of step until stop is called. When stop returns, f isn't running any more.
func every(step time.Duration, f func()) (stop func()) {
	ticker := time.NewTicker(step)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ticker.C:
				f()
			case <-quit:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(quit)
		<-done
	}
}
