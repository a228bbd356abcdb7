package command

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/operkit/operkit/tools/devcluster/internal/cluster"
	"github.com/operkit/operkit/tools/devcluster/internal/process"
)

const (
	// commandGrace is how long the command may take to end after the cluster has ended.
	commandGrace = 3 * time.Second
	// signalled is added to the number of the signal that ended the command, as a shell does.
	signalled = 128
)

// accompany runs cmd while the cluster runs. If the command's exit code isn't 0, the error is an *exitError with that
// code. If the cluster ended first, the error says why.
func accompany(ctx context.Context, cmd *exec.Cmd, running *cluster.Cluster, signals <-chan os.Signal) error {
	spawner := process.NewSpawner()
	defer spawner.Close()
	if err := spawner.Start(cmd, syscall.SIGTERM); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- running.Wait(ctx) }()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			if s != syscall.SIGINT || !inForeground() {
				_ = cmd.Process.Signal(s) // fails only if it has ended by now
			}
		case err := <-done:
			return exitCode(err)
		case err := <-ended:
			terminate(cmd, done)
			if err == nil {
				err = errors.New("the cluster was stopped while the command ran")
			}
			return err
		}
	}
}

// inForeground reports whether Ctrl-C on the terminal reaches this process's group, and so the command, which must not
// get the signal twice. Without a terminal on the standard streams it returns false: a signal was then sent to this
// process alone.
func inForeground() bool {
	for _, standard := range []int{unix.Stdin, unix.Stdout, unix.Stderr} {
		if group, err := unix.IoctlGetInt(standard, unix.TIOCGPGRP); err == nil {
			return group == unix.Getpgrp()
		}
	}
	return false
}

func terminate(cmd *exec.Cmd, done <-chan error) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(commandGrace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		_ = cmd.Process.Kill()
		<-done
	}
}

// exitCode converts the error of Wait to the exit code that a shell would report.
func exitCode(err error) error {
	if err == nil {
		return nil
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return &exitError{code: signalled + int(status.Signal())}
	}
	return &exitError{code: exit.ExitCode()}
}
