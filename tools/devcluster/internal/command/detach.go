package command

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/operkit/operkit/tools/devcluster/internal/cluster"
	"github.com/operkit/operkit/tools/devcluster/internal/state"
)

// detach starts the supervisor as a process of a session of its own and returns when the cluster is ready. Until then
// the supervisor writes its progress into a pipe. If this process is killed, nobody reads the pipe any more, and the
// supervisor ends, too.
func (p *Program) detach(options cluster.Options) error {
	reader, writer, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("detach: %w", err)
	}
	defer func() { _ = reader.Close() }()
	supervisor := exec.Command(p.executable, detachedArguments(options)...)
	supervisor.Dir = "/"
	supervisor.Stdout, supervisor.Stderr = writer, writer
	supervisor.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = supervisor.Start()
	_ = writer.Close()
	if err != nil {
		return fmt.Errorf("detach: %w", err)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	finished := make(chan struct{})
	defer close(finished)
	go func() {
		select {
		case <-signals:
			_ = supervisor.Process.Signal(syscall.SIGTERM)
		case <-finished:
		}
	}()
	// The supervisor closes the pipe when it is ready. If it has failed, the kernel closes the pipe.
	if _, err := io.Copy(p.Stdout, reader); err != nil {
		return fmt.Errorf("detach: %w", err)
	}
	s, err := state.Read(options.Dir.State())
	if err == nil && s.Ready && s.SupervisorPID == supervisor.Process.Pid {
		return supervisor.Process.Release()
	}
	if err := supervisor.Wait(); err != nil {
		return &exitError{code: 1} // it has printed the reason
	}
	return nil
}

func detachedArguments(o cluster.Options) []string {
	arguments := []string{
		"up", "--detached", "--dir=" + string(o.Dir), "--components=" + o.Components.String(),
		"--port=" + strconv.Itoa(o.Port), "--start-timeout=" + o.StartTimeout.String(),
		"--audit=" + strconv.FormatBool(o.Audit), "--feature-gates=" + o.FeatureGates,
	}
	for _, path := range o.CRDs {
		arguments = append(arguments, "--crds="+path)
	}
	return arguments
}

// redirect sends the standard output and error of this process to a file. Readers of the previous files see their end.
func redirect(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("supervisor log: %w", err)
	}
	defer func() { _ = file.Close() }()
	for _, descriptor := range []int{unix.Stdout, unix.Stderr} {
		if err := unix.Dup2(int(file.Fd()), descriptor); err != nil {
			return fmt.Errorf("supervisor log %s: %w", path, err)
		}
	}
	return nil
}
