package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/operkit/operkit/tools/devcluster/internal/workdir"
)

// Program has the parts that the commands need from the main package.
type Program struct {
	Version    string            // of Kubernetes, such as v1.36.3
	Versions   map[string]string // of the other parts, by name
	KwokConfig []byte            // see cluster.Options
	Kubectl    func(arguments []string) int
	CheckGates func(gates string) error // returns an error for a list that the components would refuse
	Stdin      *os.File
	Stdout     io.Writer
	Stderr     io.Writer
	dir        string // value of --dir
	executable string // this program's own path
}

// exitError ends the program with its exit code and without a message.
type exitError struct {
	code int
}

func (e *exitError) Error() string { return fmt.Sprintf("exit status %d", e.code) }

const long = `devcluster runs a whole Kubernetes cluster from this one program: etcd, kube-apiserver,
kube-controller-manager, kube-scheduler, kwok (a fake node on which pods become Ready although no
container runs) and kubectl.

A cluster lives in a directory: --dir, else $OPERKIT_DEVCLUSTER, else one in the user's cache
directory. Everything listens on loopback or on unix sockets; its state is thrown away at the next
start. In the directory are

  kubeconfig              the administrator's client configuration
  state.json              phase, ready, temporary, server, supervisorPID, components with pid and log
  audit.log               with --audit: a JSON line per call, at level Metadata
  logs/COMPONENT.log      and supervisor.log, when detached
  pki/                    keys and certificates
  control.sock            what down, status and component talk to

Called as etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kwok or kubectl (through a
link of that name, or with that name as the first argument) it is that program.`

// Execute runs the command line arguments (without the program's name) and returns the exit code.
func Execute(ctx context.Context, p Program, arguments []string) int {
	executable, err := os.Executable()
	if err != nil {
		fmt.Fprintln(p.Stderr, "devcluster: the program cannot find its own file:", err)
		return 1
	}
	p.executable = executable
	root := newRoot(&p)
	root.SetArgs(arguments)
	err = root.ExecuteContext(ctx)
	var exit *exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.code
	}
	fmt.Fprintln(p.Stderr, "devcluster:", err)
	return 1
}

func newRoot(p *Program) *cobra.Command {
	root := &cobra.Command{
		Use:           "devcluster",
		Short:         "A whole Kubernetes cluster in one program, for development and tests",
		Long:          long,
		SilenceUsage:  true,
		SilenceErrors: true,
		// Allows --dir before a subcommand that parses its own flags.
		TraverseChildren: true,
		Args:             cobra.NoArgs,
		RunE:             func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentFlags().StringVar(&p.dir, "dir", "",
		"cluster directory (default $"+workdir.Environment+", else one in the user's cache directory)")
	root.AddCommand(newUp(p), newDown(p), newStatus(p), newKubeconfig(p), newExec(p), newKubectl(p),
		newComponent(p), newVersion(p))
	return root
}

// resolve returns the cluster directory for the user's flags and environment.
func (p *Program) resolve() (workdir.Dir, error) { return workdir.Resolve(p.dir) }
