package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	// operatorPackage is the import path of the operator that the demo builds and runs.
	operatorPackage = "github.com/operkit/operkit/examples/guestbook"
	// stopTimeout is how long the operator may take to end.
	stopTimeout = 10 * time.Second
	// tailLines is how much of the operator's log goes into the message of a failure.
	tailLines = 20
)

// sourceFolder returns the folder of the example's source.
func sourceFolder(ctx context.Context) (string, error) {
	folder, err := output(exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", operatorPackage))
	if err != nil {
		return "", fmt.Errorf("source of the guestbook: run the demo inside the repository: %w", err)
	}
	return strings.TrimSpace(folder), nil
}

// build compiles the program in a folder as for an image: without cgo, and with -trimpath.
func build(ctx context.Context, folder, program string) error {
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", program, ".")
	command.Dir, command.Env = folder, append(os.Environ(), "CGO_ENABLED=0")
	_, err := output(command)
	return err
}

// output runs a command and returns its standard output. The error contains its standard error.
func output(command *exec.Cmd) (string, error) {
	var stdout, stderr strings.Builder
	command.Stdout, command.Stderr = &stdout, &stderr
	if command.WaitDelay == 0 {
		command.WaitDelay = time.Second
	}
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(command.Args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// operatorProcess is the running operator: a separate process, as it would be a Pod in a cluster.
type operatorProcess struct {
	process *os.Process
	log     string
	// ended is closed when the process has ended; err then says how.
	ended chan struct{}
	err   error
}

// startOperator runs the program as the user of kubeconfig, logging into a file. The process goes on running when ctx
// ends, until it is stopped.
func startOperator(ctx context.Context, program, kubeconfig, log string) (*operatorProcess, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("operator: %w", err)
	}
	defer func() { _ = file.Close() }() // the child has its own
	command := exec.CommandContext(context.WithoutCancel(ctx), program, "run", "--kubeconfig", kubeconfig)
	command.Stdout, command.Stderr = file, file
	command.SysProcAttr = attached()
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("operator: %w", err)
	}
	p := &operatorProcess{process: command.Process, log: log, ended: make(chan struct{})}
	go func() {
		p.err = command.Wait()
		close(p.ended)
	}()
	return p, nil
}

// alive returns an error if the process has ended.
func (p *operatorProcess) alive() error {
	select {
	case <-p.ended:
		if p.err == nil {
			return errors.New("the operator ended by itself: exit status 0")
		}
		return fmt.Errorf("the operator ended by itself: %w", p.err)
	default:
		return nil
	}
}

// stop sends the operator SIGTERM, and kills it if it doesn't end in time. Further calls return the same result.
func (p *operatorProcess) stop(ctx context.Context) error {
	// An error means that it has ended.
	_ = p.process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		return p.kill(fmt.Errorf("the operator didn't end within %s of SIGTERM: killed", stopTimeout))
	case <-ctx.Done():
		return p.kill(fmt.Errorf("the operator: killed: %w", context.Cause(ctx)))
	}
	if p.err != nil {
		return fmt.Errorf("the operator didn't end well: %w", p.err)
	}
	return nil
}

func (p *operatorProcess) kill(reason error) error {
	_ = p.process.Kill()
	<-p.ended
	return reason
}

// tail returns the last lines of the log, indented.
func (p *operatorProcess) tail() string {
	content, err := os.ReadFile(p.log)
	if err != nil {
		return "  " + err.Error()
	}
	if len(content) == 0 {
		return "  (nothing)"
	}
	lines := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-tailLines):], "\n  ")
}
