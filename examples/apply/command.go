package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// settings are the values of the flags.
type settings struct {
	files               []string
	kubeconfig, context string
	namespace           string
	set                 string
	prune, pruneAll     bool
	diff, wait          bool
	timeout             time.Duration
}

func newCommand() *cobra.Command {
	var s settings
	command := &cobra.Command{
		Use:   "apply -f DIR",
		Short: "Make a cluster hold what the files of a folder say",
		Long: `Apply reads Kubernetes objects from the YAML and JSON files of folders and makes
the cluster hold them: Namespaces and CustomResourceDefinitions first, the rest
several at once. An object that is as it should be costs no call.

With --applyset the objects are a set that the cluster remembers, as
"kubectl apply --applyset" does; with --prune what left the set is deleted, once
all the others are applied. With --diff nothing is changed: what would be is shown.

The exit code is 0 when all went well, 1 when the cluster doesn't answer, or an
object couldn't be applied or wasn't ready in time, 2 when files or arguments are
wrong, and 130 when it was interrupted.`,
		Example: `  apply -f deploy/
  apply -f deploy/ --diff
  apply -f deploy/ --wait --timeout 5m
  apply -f deploy/ --applyset shop --prune`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return s.run(command.Context(), command.InOrStdin(), command.OutOrStdout())
		},
	}
	command.CompletionOptions.DisableDefaultCmd = true
	flags := command.Flags()
	flags.StringArrayVarP(&s.files, "filename", "f", nil, "folder or file with objects, - for standard input; may be given several times")
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "kubeconfig file; default: as kubectl finds it")
	flags.StringVar(&s.context, "context", "", "context of the kubeconfig file")
	flags.StringVarP(&s.namespace, "namespace", "n", "default", "namespace of objects that name none")
	flags.StringVar(&s.set, "applyset", "", "name of the set that the objects are, and of the Secret that remembers it")
	flags.BoolVar(&s.prune, "prune", false, "delete the objects of the set that aren't in the files any more")
	flags.BoolVar(&s.pruneAll, "prune-all", false, "as --prune, also when the files hold no object: all of the set is deleted")
	flags.BoolVar(&s.diff, "diff", false, "show what would change, and change nothing")
	flags.BoolVar(&s.wait, "wait", false, "wait until everything is ready")
	flags.DurationVar(&s.timeout, "timeout", 5*time.Minute, "how long all of it may take")
	return command
}

func (s settings) validate() error {
	switch {
	case len(s.files) == 0:
		return errors.New("no folder is named: give it with -f; --help tells more")
	case (s.prune || s.pruneAll) != (s.set != ""):
		return errors.New("--applyset goes together with --prune or --prune-all: a set has to be remembered to find what left it")
	case s.timeout <= 0:
		return fmt.Errorf("--timeout %s: want a time above 0", s.timeout)
	}
	return nil
}
