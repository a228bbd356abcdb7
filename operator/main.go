package operator

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/internal/cli"
	"github.com/operkit/operkit/operator/internal/settings"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
)

// Main runs the command in the program's arguments and exits: with 0 if the command succeeded, 1 if it failed or lost
// the leadership, and 2 if there is a mistake in the arguments. SIGINT and SIGTERM stop the command in good order; a
// second signal kills the process.
func (o *Operator) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// Once the handler is removed, a second signal kills the process.
	context.AfterFunc(ctx, stop)
	// Package cluster logs what client-go logs about watches. client-go's logger is global, so only a program may
	// replace it, not a library.
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	o.called = callName(os.Args[0])
	os.Exit(o.Execute(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Execute runs the command in args and returns the exit code, see Main. The command ends when ctx does.
func (o *Operator) Execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	program := o.program()
	command := program.Root()
	command.SetArgs(args)
	command.SetOut(stdout)
	command.SetErr(stderr)
	err := command.ExecuteContext(ctx)
	for _, end := range slices.Backward(o.atEnd) {
		end()
	}
	return cli.ExitCode(program.Called, err, stderr)
}

// callName returns the command by which users call a plugin of kubectl: "kubectl NAME". It is empty for other programs.
func callName(program string) string {
	plugin, is := strings.CutPrefix(strings.TrimSuffix(filepath.Base(program), ".exe"), "kubectl-")
	if !is {
		return ""
	}
	return "kubectl " + strings.ReplaceAll(plugin, "_", "-")
}

// program returns what the commands need to know.
func (o *Operator) program() *cli.Operator {
	o.manager, o.wrong = o.newManager(noCluster{})
	s := o.newSettings()
	program := &cli.Operator{
		Name: o.name, Called: cmp.Or(o.called, o.name), Domain: o.domain(), Settings: s,
		Selectors: o.selectors(), Manager: o.deployManager,
		Patches: func(manager *deploy.Manager) (*temporarypatch.Controller, error) { return o.newPatches(manager) },
		Open: func(log io.Writer) (*cli.Process, error) {
			p, err := o.open(s, log)
			if err != nil {
				return nil, err
			}
			return &cli.Process{
				Config: p.Config, Logger: p.logger, Client: p.clientConfig, Prepare: p.prepare, Reconciler: p.reconciler, Finalizers: p.finalizers, Run: p.run,
			}, nil
		},
	}
	for _, c := range o.controllers {
		program.Kinds = append(program.Kinds, cli.Kind{GroupVersionKind: c.kind, Controller: c.sessions})
	}
	for _, build := range o.commands {
		program.Commands = append(program.Commands, build(func(cmd *cobra.Command) (Process, error) {
			if _, tolerant := cmd.Annotations[settings.Tolerant]; tolerant {
				s.Tolerate()
			}
			p, err := o.open(s, cmd.ErrOrStderr())
			if err != nil {
				return Process{}, err
			}
			return p.about(), nil
		}))
	}
	return program
}

// newSettings returns the settings of the process before they are read.
func (o *Operator) newSettings() *settings.Settings {
	var kinds []string
	for _, c := range o.controllers {
		if c.kind.Kind != "" {
			kinds = append(kinds, c.kind.Kind)
		}
	}
	defaults := func(c *config.Config) {
		for _, change := range o.defaults {
			change(c)
		}
	}
	s := settings.New(o.name, settings.Options{Defaults: defaults, Kinds: kinds, Oper8: o.oper8, NamespaceFile: o.namespaceFile})
	for _, add := range o.ownFlags {
		add(s.Flags())
	}
	return s
}
