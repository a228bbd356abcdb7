package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/operkit/operkit/tools/devcluster/internal/cluster"
	"github.com/operkit/operkit/tools/devcluster/internal/workdir"
)

// notFound is the exit code of a shell for a command that doesn't exist.
const notFound = 127

func newExec(p *Program) *cobra.Command {
	var f clusterFlags
	cmd := &cobra.Command{
		Use:   "exec [flags] -- COMMAND [ARGUMENT]...",
		Short: "Run a command with a cluster of its own",
		Long: `Start a cluster, run the command with KUBECONFIG and OPERKIT_DEVCLUSTER set, stop the cluster, and
exit with the command's exit code (128 and the signal's number when a signal ended it). Signals are
passed on. Without --dir the cluster lives in a temporary directory, which is removed, or kept for
its logs when a component has crashed. Progress goes to the standard error.`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().SetInterspersed(false)
	f.register(cmd)
	cmd.RunE = func(cmd *cobra.Command, arguments []string) error { return p.exec(cmd.Context(), f, arguments) }
	return cmd
}

func (p *Program) exec(ctx context.Context, f clusterFlags, arguments []string) error {
	path, err := exec.LookPath(arguments[0])
	if err != nil {
		fmt.Fprintln(p.Stderr, "devcluster: command:", err)
		return &exitError{code: notFound}
	}
	dir, remove, err := p.execDir()
	if err != nil {
		return err
	}
	err = p.execIn(ctx, f, dir, path, arguments)
	if !cluster.LogsMatter(err) {
		remove()
	}
	return err
}

// execDir returns the directory for the cluster and how to remove it afterwards.
func (p *Program) execDir() (workdir.Dir, func(), error) {
	if p.dir != "" {
		dir, err := p.resolve()
		return dir, func() {}, err
	}
	path, err := os.MkdirTemp("", "devcluster-")
	if err != nil {
		return "", nil, fmt.Errorf("cluster directory: %w", err)
	}
	remove := func() { _ = os.RemoveAll(path) } // on an error the files stay in the temporary directory
	return workdir.Dir(path), remove, nil
}

// execIn runs the command with a cluster in dir.
func (p *Program) execIn(ctx context.Context, f clusterFlags, dir workdir.Dir, path string, arguments []string) error {
	options, err := f.options(p, dir)
	if err != nil {
		return err
	}
	options.Progress = func(line string) { fmt.Fprintln(p.Stderr, line) }
	// Registered before the start, so that no signal is lost between the start and the command.
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(signals)
	starting, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	running, err := cluster.Start(starting, options)
	if err != nil {
		return err
	}
	defer running.Stop()
	if starting.Err() != nil {
		return errors.New("interrupted")
	}
	stop()
	cmd := exec.Command(path, arguments[1:]...)
	cmd.Args[0] = arguments[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Stdin, p.Stdout, p.Stderr
	cmd.Env = append(os.Environ(), "KUBECONFIG="+dir.Kubeconfig(), workdir.Environment+"="+string(dir))
	return accompany(ctx, cmd, running, signals)
}
