package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// sampling is the interval at which the memory of a process is measured.
const sampling = 20 * time.Millisecond

// grace is how long a process may take to end by itself.
const grace = 20 * time.Second

// Process is an operator that runs. Its methods may be called concurrently, except for Stop, which must be called once.
type Process struct {
	// Started is when it was executed.
	Started time.Time

	command *exec.Cmd
	log     *os.File
	ended   chan struct{}
	failure error
	peak    atomic.Int64
	sampled sync.WaitGroup
}

// Start runs a program until Stop. Its output is appended to the file log.
func Start(ctx context.Context, path, log string, args ...string) (*Process, error) {
	return StartWith(ctx, path, log, nil, args...)
}

// StartWith is Start with more variables in the environment, each "NAME=value".
func StartWith(ctx context.Context, path, log string, environment []string, args ...string) (*Process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, path, args...)
	command.Stdout, command.Stderr, command.Env = file, file, append(os.Environ(), environment...)
	p := &Process{command: command, log: file, ended: make(chan struct{}), Started: time.Now()}
	if err := command.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	go func() {
		p.failure = command.Wait()
		close(p.ended)
	}()
	p.sampled.Go(p.sample)
	return p, nil
}

func (p *Process) sample() {
	for ticks := time.NewTicker(sampling); ; {
		select {
		case <-p.ended:
			ticks.Stop()
			return
		case <-ticks.C:
			if memory, err := Memory(p.command.Process.Pid); err == nil && memory > p.peak.Load() {
				p.peak.Store(memory)
			}
		}
	}
}

// Ended is closed when the process has ended, which it shouldn't before Stop.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Memory returns its present anonymous memory in bytes, without mapped files.
func (p *Process) Memory() (int64, error) { return Memory(p.command.Process.Pid) }

// Peak returns the largest amount of memory that was sampled, in bytes.
func (p *Process) Peak() int64 { return p.peak.Load() }

// Stop sends the process SIGTERM, and SIGKILL if it ignores that, as Kubernetes does, and returns its total processor
// time. It returns an error if the process had ended before, if it ignored SIGTERM, or if its exit code isn't 0.
func (p *Process) Stop() (time.Duration, error) {
	defer func() { _ = p.log.Close() }() // written by the process, not here
	select {
	case <-p.ended:
		return 0, fmt.Errorf("%s ended by itself: %w; see %s", p.command.Path, p.failure, p.log.Name())
	default:
	}
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return 0, fmt.Errorf("%s: %w", p.command.Path, err)
	}
	select {
	case <-p.ended:
	case <-time.After(grace):
		_ = p.command.Process.Kill() // Stop returns an error anyway
		<-p.ended
		return 0, fmt.Errorf("%s: it still ran %s after SIGTERM; see %s", p.command.Path, grace, p.log.Name())
	}
	p.sampled.Wait()
	if p.failure != nil {
		return 0, fmt.Errorf("%s: %w; see %s", p.command.Path, p.failure, p.log.Name())
	}
	state := p.command.ProcessState
	return state.UserTime() + state.SystemTime(), nil
}
