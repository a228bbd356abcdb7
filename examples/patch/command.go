package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operkit/operkit/smp"
)

// settings are the values of the flags.
type settings struct {
	document, patch string
	kind            string
	crd             string
	output          string
	strict, rename  bool
}

func newCommand() *cobra.Command {
	var s settings
	command := &cobra.Command{
		Use:   "patch -f MANIFEST -p PATCH",
		Short: "Patch a Kubernetes manifest from a file",
		Long: `Patch applies a patch to a manifest and prints the result. Both are files with one
YAML or JSON document each; - is standard input.

A strategic merge patch does what the API server makes of it: lists merge by the
keys that their type has. Those of Kubernetes' own kinds are built in; of a
custom resource they are read from its CustomResourceDefinition (--crd), and
without that lists are replaced.

A patch may not make another object of the manifest, unless told so (--rename).`,
		Example: `  patch -f deploy.yaml -p image.yaml
  kubectl get deploy web -o yaml | patch -f - -p ops.json --type json
  patch diff deploy.yaml wanted.yaml`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(command *cobra.Command, _ []string) error {
			return s.apply(command.InOrStdin(), command.OutOrStdout())
		},
	}
	command.CompletionOptions.DisableDefaultCmd = true
	shared := command.PersistentFlags()
	shared.StringVar(&s.kind, "type", "strategic", "what the patch is: strategic, json or merge")
	shared.StringVar(&s.crd, "crd", "", "file with the CustomResourceDefinition of the manifest")
	shared.StringVarP(&s.output, "output", "o", "yaml", "how the result is written: yaml or json")
	flags := command.Flags()
	flags.StringVarP(&s.document, "filename", "f", "", "file with the manifest")
	flags.StringVarP(&s.patch, "patch", "p", "", "file with the patch")
	flags.BoolVar(&s.strict, "strict", false, "refuse a strategic patch of which a part would silently do nothing")
	flags.BoolVar(&s.rename, "rename", false, "let the patch change apiVersion, kind, name and namespace")
	for _, required := range []string{"filename", "patch"} {
		if err := command.MarkFlagRequired(required); err != nil {
			command.PrintErrln(err)
		}
	}
	command.AddCommand(newDiffCommand(&s))
	return command
}

func newDiffCommand(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Print the patch that turns one manifest into another one",
		Long: `Diff prints the patch that turns one manifest into another one: applied to the
first, it gives the second. A merge patch can't say everything; what it can't is
an error.`,
		Example: `  patch diff deploy.yaml wanted.yaml
  patch diff deploy.yaml wanted.yaml --type json -o json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("diff: %d manifests: want two, the one before and the one after", len(args))
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			return s.diff(args[0], args[1], command.InOrStdin(), command.OutOrStdout())
		},
	}
}

// options returns the options of smp for the flags.
func (s settings) options() []smp.Option {
	options := []smp.Option{smp.Named(s.patch)}
	if s.strict {
		options = append(options, smp.InMode(smp.Strict))
	}
	if s.rename {
		options = append(options, smp.AllowIdentityChange())
	}
	return options
}

// check returns an error for invalid flags and for flags that contradict each other.
func (s settings) check() error {
	switch {
	case s.kind != "strategic" && s.kind != "json" && s.kind != "merge":
		return fmt.Errorf("--type %s: want strategic, json or merge", s.kind)
	case s.output != "yaml" && s.output != "json":
		return fmt.Errorf("--output %s: want yaml or json", s.output)
	case s.kind != "strategic" && s.strict:
		return fmt.Errorf("--strict: it is about strategic patches, not --type %s", s.kind)
	case s.kind != "strategic" && s.crd != "":
		return fmt.Errorf("--crd: it is about strategic patches, not --type %s", s.kind)
	default:
		return nil
	}
}
