package gotest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/operkit/operkit/tools/check/process"
	"github.com/operkit/operkit/tools/check/repository"
)

// waitingAtOnce is how many tests run at once for each processor, in packages whose tests mostly wait.
const waitingAtOnce = 4

// Runner runs the tests of modules one module after another. Repository and Stdout must be set; the zero value of every
// other field is usable.
type Runner struct {
	Repository *repository.Repository
	// Stdout receives the package lines, Stderr other output of the go command, such as 'downloading'. They are written
	// to concurrently: if both are the same writer, it must be safe for concurrent use.
	Stdout, Stderr io.Writer
	// Race runs the tests under the race detector, except in the control plane.
	Race bool
	// Count and Run are the flags -count and -run of go test; the zero value leaves the flag out. If Run is set, not
	// all tests run, and the events of the run aren't kept.
	Count int
	Run   string
	// Named is true if a person chose the modules. Then a module without a test that Run matches is an error.
	Named bool
	// Timeout is the flag -timeout of go test: how long the tests of one package may take. Zero leaves the flag out.
	Timeout time.Duration
	// Waiting reports whether the tests of a module mostly wait. If so, more of them run at once than there are
	// processors. A nil Waiting returns false for every module.
	Waiting func(repository.Module) bool
	// Fingerprint is a hash of all files of the repository. If tests of a module may read files of other modules, a new
	// fingerprint makes their cached results invalid. If it is empty, cached results are always used.
	Fingerprint string
	// Env has additional environment variables for the tests, as NAME=value.
	Env []string
}

// All runs the tests of modules and returns the counts. It continues after a failure, and stops early only if ctx ends.
func (r *Runner) All(ctx context.Context, modules []repository.Module) (Tally, error) {
	var total Tally
	var problems error
	compiled, stop := r.ahead(ctx, modules)
	defer stop()
	for i, m := range modules {
		if ctx.Err() != nil {
			break
		}
		title := fmt.Sprintf("[%*d/%d] %s", len(strconv.Itoa(len(modules))), i+1, len(modules), m.Dir)
		if !m.HasPackages(r.Repository.Root) {
			r.printf("%s: no packages\n", title)
			continue
		}
		r.printf("%s\n", title)
		start := time.Now()
		<-compiled[i]
		tally, err := r.module(ctx, m)
		problems = errors.Join(problems, err)
		if r.Run != "" && r.Named && tally == (Tally{}) && ctx.Err() == nil {
			problems = errors.Join(problems, fmt.Errorf("%s: no test matches -run %s", m.Dir, r.Run))
		}
		total.Add(tally)
		r.printf("%s: passed=%d failed=%d skipped=%d in %.1fs\n",
			title, tally.Passed, tally.Failed, tally.Skipped, time.Since(start).Seconds())
	}
	return total, errors.Join(problems, ctx.Err())
}

func (r *Runner) printf(format string, args ...any) { _, _ = fmt.Fprintf(r.Stdout, format, args...) }

// module runs the tests of one module and counts how they ended. It returns an error if the tests couldn't be run or
// recorded. A failed test is no error.
func (r *Runner) module(ctx context.Context, m repository.Module) (Tally, error) {
	record, err := createStream(StreamFile(r.Repository, m))
	if err != nil {
		return Tally{Failed: 1}, fmt.Errorf("%s: %w", m.Dir, err)
	}
	collector := NewCollector(r.Stdout)
	split := &lines{each: collector.Line}
	env := append(r.Repository.Environ(m), r.Env...)
	cmd := process.Command(ctx, r.Repository.Folder(m), env, "go", r.args(m)...)
	cmd.Stdout = io.MultiWriter(record.file, split)
	cmd.Stderr = r.Stderr
	if cmd.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	runErr := process.Run(ctx, cmd)
	split.flush()
	collector.Close()
	tally := collector.Tally
	if runErr != nil && tally.Failed == 0 {
		tally.Failed++
		r.printf("FAIL\t%s: %s: %v\n", m.Dir, process.Line(cmd), runErr)
	}
	complete := r.Run == "" && ctx.Err() == nil
	if err := record.close(complete); err != nil {
		return tally, fmt.Errorf("%s: record of the test run: %w", m.Dir, err)
	}
	return tally, nil
}

func (r *Runner) args(m repository.Module) []string {
	// The linter vets all modules. Vet would read all packages that they need, which takes minutes.
	args := append([]string{"test", "-json", "-vet=off"}, m.BuildFlags(r.Race)...)
	if r.Count > 0 {
		args = append(args, "-count="+strconv.Itoa(r.Count))
	}
	if r.Run != "" {
		args = append(args, "-run="+r.Run)
	}
	if r.Waiting != nil && r.Waiting(m) {
		args = append(args, "-parallel="+strconv.Itoa(waitingAtOnce*runtime.GOMAXPROCS(0)))
	}
	if r.Fingerprint != "" && m.ReadsRepository() {
		// No program has this variable. It only changes the test binary, so that the go command doesn't use a cached
		// result.
		args = append(args, "-ldflags=-X="+repository.Prefix+".fingerprint="+r.Fingerprint)
	}
	if r.Timeout > 0 {
		args = append(args, "-timeout="+r.Timeout.String())
	}
	return append(args, "./...")
}

// ahead starts to compile the tests of the modules in order, while tests of earlier modules run, which mostly wait. It
// closes the channel of a module when the module's compilation has ended, even if it failed: go test then reports the
// error. The caller must call stop, which ends the current compilation.
func (r *Runner) ahead(ctx context.Context, modules []repository.Module) (compiled []chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	for range modules {
		compiled = append(compiled, make(chan struct{}))
	}
	var running sync.WaitGroup
	running.Go(func() {
		for i, m := range modules {
			if ctx.Err() == nil && m.HasPackages(r.Repository.Root) {
				_ = process.Run(ctx, r.compile(ctx, m, i > 0))
			}
			close(compiled[i])
		}
	})
	return compiled, func() {
		cancel()
		running.Wait()
	}
}

// compile returns the command that compiles the packages of a module, its tests, and their dependencies. If yields is
// true, the command runs with a low priority, so that running tests get the processors first.
func (r *Runner) compile(ctx context.Context, m repository.Module, yields bool) *exec.Cmd {
	words := append([]string{"go", "list", "-e", "-export", "-test", "-deps"}, append(m.BuildFlags(r.Race), "./...")...)
	if yields {
		words = process.Yielding(words...)
	}
	return process.Command(ctx, r.Repository.Folder(m), process.Roomy(r.Repository.Environ(m)), words[0], words[1:]...)
}
