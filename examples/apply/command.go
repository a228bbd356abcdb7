package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/status/readiness"
)

// applyError is what went wrong with objects, as opposed to the arguments and the files.
type applyError struct{ error }

func (e *applyError) Unwrap() error { return e.error }

// settings is what flags say.
type settings struct {
	files               []string
	kubeconfig, context string
	namespace           string
	set                 string
	prune, diff, wait   bool
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

The exit code is 0 when all went well, 1 when an object couldn't be applied or
wasn't ready in time, and 2 when files or arguments are wrong.`,
		Example: `  apply -f deploy/
  apply -f deploy/ --diff
  apply -f deploy/ --wait --timeout 5m
  apply -f deploy/ --applyset shop --prune`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return s.run(command)
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
	flags.BoolVar(&s.diff, "diff", false, "show what would change, and change nothing")
	flags.BoolVar(&s.wait, "wait", false, "wait until everything is ready")
	flags.DurationVar(&s.timeout, "timeout", 5*time.Minute, "how long all of it may take")
	return command
}

func (s settings) validate() error {
	switch {
	case len(s.files) == 0:
		return errors.New("no folder is named: give it with -f; --help tells more")
	case s.prune != (s.set != ""):
		return errors.New("--prune and --applyset go together: a set has to be remembered to find what left it")
	case s.timeout <= 0:
		return fmt.Errorf("--timeout %s: want a time above 0", s.timeout)
	}
	return nil
}

func (s settings) run(command *cobra.Command) error {
	if err := s.validate(); err != nil {
		return err
	}
	objects, err := readAll(s.files, command.InOrStdin())
	if err != nil {
		return err
	}
	config, err := cluster.Config(s.kubeconfig, s.context)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(command.Context(), s.timeout)
	defer cancel()
	api, err := cluster.New(ctx, config)
	if err != nil {
		return err
	}
	manager := deploy.NewManager(api, deploy.FieldManager("operkit-apply"), deploy.DefaultNamespace(s.namespace))
	if s.diff {
		return s.showDiff(ctx, command, manager, objects)
	}
	return s.apply(ctx, command, manager, objects)
}

func (s settings) applySet() deploy.ApplySet {
	return deploy.ApplySet{Parent: deploy.Ref{Namespace: s.namespace, Name: s.set}, Tooling: "operkit-apply/v1"}
}

func (s settings) showDiff(ctx context.Context, command *cobra.Command, m *deploy.Manager, objects []*unstructured.Unstructured) error {
	var differences deploy.Differences
	var err error
	if s.set != "" {
		differences, err = m.DiffSet(ctx, s.applySet(), objects)
	} else {
		differences, err = m.Diff(ctx, objects)
	}
	if _, failed := fmt.Fprint(command.OutOrStdout(), differences); failed != nil {
		return failed
	}
	if err != nil {
		return &applyError{err}
	}
	return nil
}

func (s settings) apply(ctx context.Context, command *cobra.Command, m *deploy.Manager, objects []*unstructured.Unstructured) error {
	progress := newProgress(command.OutOrStdout(), objects, s.wait)
	options := []deploy.Option{deploy.OnResult(progress.applied)}
	if s.wait {
		options = append(options, deploy.Ready(func(obj *unstructured.Unstructured) bool {
			result := readiness.Of(obj)
			progress.judged(deploy.RefOf(obj), result)
			return result.State == readiness.Ready
		}))
	}
	var err error
	if s.set != "" {
		var results deploy.SetResults
		results, err = m.ApplySet(ctx, s.applySet(), objects, options...)
		progress.pruned(results.Pruned)
	} else {
		_, err = m.Apply(ctx, objects, options...)
	}
	if failed := progress.end(); failed != nil {
		return failed
	}
	if err != nil {
		return &applyError{err}
	}
	return nil
}
