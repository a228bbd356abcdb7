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
	"time"

	"github.com/operkit/operkit/tools/check/process"
	"github.com/operkit/operkit/tools/check/repository"
)

// waitingAtOnce is how many tests of a package that mostly wait run at once for each processor.
const waitingAtOnce = 4

// Runner runs the tests of modules one module after another. Repository and Stdout must be set; the zero value of every
// other field is usable.
type Runner struct {
	Repository *repository.Repository
	// Stdout gets the package lines, Stderr what the go command says besides, as 'downloading'. They are written to
	// concurrently, so they must not be one writer that is not safe for that.
	Stdout, Stderr io.Writer
	// Race runs the tests under the race detector, in the modules that allow it.
	Race bool
	// Count and Run are the flags of go test of that name; zero leaves them out. A run with Run is not complete: its
	// events are not kept.
	Count int
	Run   string
	// Named reports that a person chose the modules: it is an error if Run matches no test of one of them.
	Named bool
	// Timeout is the flag of go test: how long the tests of one package may take. Zero leaves it out.
	Timeout time.Duration
	// Waiting are the folders of modules whose tests mostly wait for others: more of them run at once than there are
	// processors.
	Waiting map[string]bool
	// Fingerprint stands for all files of the repository. When it changes, cached results of modules whose tests read
	// files of other modules aren't used. If it is empty, they are always used.
	Fingerprint string
	// Env holds what is set for the tests in addition, as NAME=value.
	Env []string
}

// All runs the tests of modules and gives the counts. It goes on after a failure and ends early only with ctx.
func (r *Runner) All(ctx context.Context, modules []repository.Module) (Tally, error) {
	var total Tally
	var problems error
	early := r.ahead(ctx, modules)
	defer early.stop()
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
		early.await(i)
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

// module runs the tests of one module and counts how they ended. The error says what kept the run from being done or
// recorded; a failed test is none.
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

// building are the flags that say how a module is compiled.
func (r *Runner) building(m repository.Module) []string {
	if r.Race && m.Race() {
		return append(m.BuildFlags(), "-race")
	}
	return m.BuildFlags()
}

// vetting selects the analyzers of go vet: all of them instead of go test's default subset, which takes as long. Not in
// the control plane, where go vet would first read all of Kubernetes, for minutes; the linter checks that module.
func vetting(m repository.Module) string {
	if m.IsControlPlane() {
		return "off"
	}
	return "all"
}

func (r *Runner) args(m repository.Module) []string {
	args := append([]string{"test", "-json", "-vet=" + vetting(m)}, r.building(m)...)
	if r.Count > 0 {
		args = append(args, "-count="+strconv.Itoa(r.Count))
	}
	if r.Run != "" {
		args = append(args, "-run="+r.Run)
	}
	if r.Waiting[m.Dir] {
		args = append(args, "-parallel="+strconv.Itoa(waitingAtOnce*runtime.GOMAXPROCS(0)))
	}
	if r.Fingerprint != "" && m.ReadsRepository() {
		// A variable that no program has: it only makes the test binary a different one.
		args = append(args, "-ldflags=-X="+repository.Prefix+".fingerprint="+r.Fingerprint)
	}
	if r.Timeout > 0 {
		args = append(args, "-timeout="+r.Timeout.String())
	}
	return append(args, "./...")
}

// compiling compiles what tests of later modules need, while those of earlier ones run, which mostly wait.
type compiling struct {
	// done is closed when the compilation of a module has ended, also without success: go test then reports the error.
	done   []chan struct{}
	cancel context.CancelFunc
}

// ahead starts to compile the modules in order. The caller calls stop.
func (r *Runner) ahead(ctx context.Context, modules []repository.Module) *compiling {
	ctx, cancel := context.WithCancel(ctx)
	c := &compiling{cancel: cancel}
	for range modules {
		c.done = append(c.done, make(chan struct{}))
	}
	go func() {
		for i, m := range modules {
			if ctx.Err() == nil && m.HasPackages(r.Repository.Root) {
				_ = process.Run(ctx, r.compile(ctx, m, i > 0))
			}
			close(c.done[i])
		}
	}()
	return c
}

// compile returns the command that compiles the packages of a module, its tests, and their dependencies. With yields it
// has a low priority, so that tests that run at the same time get the processors first.
func (r *Runner) compile(ctx context.Context, m repository.Module, yields bool) *exec.Cmd {
	words := append([]string{"go", "list", "-e", "-export", "-test", "-deps"}, append(r.building(m), "./...")...)
	if yields {
		words = process.Yielding(words...)
	}
	return process.Command(ctx, r.Repository.Folder(m), process.Roomy(r.Repository.Environ(m)), words[0], words[1:]...)
}

// await waits until the module with that number is compiled, or compilation was stopped.
func (c *compiling) await(number int) { <-c.done[number] }

// stop ends the current compilation.
func (c *compiling) stop() {
	c.cancel()
	for _, done := range c.done {
		<-done
	}
}
