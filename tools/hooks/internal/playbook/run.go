package playbook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"

	"github.com/operkit/operkit/tools/hooks/internal/process"
)

// Run runs a playbook or a role, and returns what it has done. Failed tasks are in the Result; the error is a *RunError
// if the playbook wasn't run to its end. When ctx ends, or the time is over, all processes of the run end. The files
// with the variables and the kubeconfig are deleted when Run returns.
func (r *Runner) Run(ctx context.Context, in Input) (result *Result, err error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	failed := func(cause Cause, err error) *RunError {
		return &RunError{Path: in.Entry.SourceOf(in.Finalizes).Path(), Cause: cause, Code: -1, Err: err}
	}
	f, err := r.newFolder(&in)
	defer func() {
		if left := f.remove(); left != nil && err == nil {
			result, err = nil, failed(Stopped, fmt.Errorf("delete the files of the run: %w", left))
		}
	}()
	if err != nil {
		return nil, failed(NotStarted, err)
	}
	kept, err := r.newArtifacts(&in)
	if err != nil {
		return nil, failed(NotStarted, fmt.Errorf("artifacts: %w", err))
	}
	defer kept.close()
	said := &output{file: kept.output, left: maxOutput}
	p, err := process.Start(process.Spec{
		Command: r.arguments(&in, f), Dir: f.path(workFolder), Env: r.environment(&in, f, kept.events.Name()),
		Memory: r.config.Memory, Stderr: said, Marker: f.marker(),
	})
	if err != nil {
		return nil, failed(NotStarted, err)
	}
	cause, err := r.await(ctx, p, said)
	if err == nil {
		result, cause, err = read(p, kept)
	}
	if err != nil {
		e := failed(cause, err)
		e.Code, e.Output, e.Artifacts, e.said = codeOf(p), said.tail.String(), kept.dir, p.Text()
		if e.said == "" {
			e.said = e.Output
		}
		return nil, e
	}
	result.Completed, result.Code, result.Artifacts = r.config.Now().UTC(), codeOf(p), kept.dir
	return result, nil
}

// await waits until a run has ended, and ends it when its time is over.
func (r *Runner) await(ctx context.Context, p *process.Process, said io.Writer) (Cause, error) {
	late := fmt.Errorf("hasn't ended within %s: raise the timeout, or do less in a run", r.config.Timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, r.config.Timeout, late)
	defer cancel()
	defer p.End()
	defer p.Bound(ctx)()
	_ = p.Stdin.Close() // it has no questions
	_, _ = io.Copy(said, p.Stdout)
	select {
	case <-p.Ended():
		return "", nil
	case <-ctx.Done():
	}
	select {
	case <-p.Ended(): // just in time
		return "", nil
	default:
	}
	if err := context.Cause(ctx); !errors.Is(err, late) {
		return Canceled, err
	}
	return TimedOut, late
}

// invalidCode is the exit code of ansible-playbook for a playbook that it can't read.
const invalidCode = 4

// read returns the result of a run that has ended.
func read(p *process.Process, kept *artifacts) (*Result, Cause, error) {
	if code := codeOf(p); code < 0 {
		return nil, Killed, fmt.Errorf("ansible-playbook: %w", p.Err())
	}
	result, hasStats, err := readEvents(kept.events)
	switch {
	case err != nil:
		return nil, Garbled, err
	case !hasStats && codeOf(p) == invalidCode:
		return nil, Invalid, fmt.Errorf("has a mistake: %w", p.Err())
	case !hasStats && p.Err() == nil:
		return nil, Stopped, errors.New("ansible-playbook has ended without events: the plugin for them wasn't loaded, or there is no play")
	case !hasStats:
		return nil, Stopped, fmt.Errorf("ansible-playbook has ended before the end of the playbook: %w", p.Err())
	case p.Err() != nil && len(result.Failed) == 0 && result.Failures == 0 && result.Unreachable == 0:
		return nil, Stopped, fmt.Errorf("no task has failed, but ansible-playbook has: %w", p.Err())
	}
	return result, "", nil
}

// codeOf returns the exit code of a process that has ended, or -1 if a signal has ended it.
func codeOf(p *process.Process) int {
	var exit *exec.ExitError
	switch err := p.Err(); {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}
