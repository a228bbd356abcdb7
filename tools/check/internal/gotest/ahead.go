package gotest

import (
	"context"
	"os/exec"

	"github.com/operkit/operkit/tools/check/internal/process"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// compiling compiles what the tests of modules need, while those of earlier ones run, which mostly wait for others.
type compiling struct {
	// done is closed when a module is compiled, be it without success: the go command says what is wrong when it is told to test.
	done   []chan struct{}
	cancel context.CancelFunc
}

// ahead begins with the first of modules. Its owner calls stop.
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

// compile is the command that compiles the packages of a module and of its tests, and all below. One that yields lets the
// tests that run meanwhile have the processors first.
func (r *Runner) compile(ctx context.Context, m repository.Module, yields bool) *exec.Cmd {
	words := append([]string{"go", "list", "-e", "-export", "-test", "-deps"}, append(r.building(m), "./...")...)
	if yields {
		words = process.Yielding(words...)
	}
	return process.Command(ctx, r.Repository.Folder(m), process.Roomy(r.Repository.Environ(m)), words[0], words[1:]...)
}

// await waits until the module of that number is compiled, or nobody compiles it any more.
func (c *compiling) await(number int) { <-c.done[number] }

// stop ends what is under way.
func (c *compiling) stop() {
	c.cancel()
	for _, done := range c.done {
		<-done
	}
}
