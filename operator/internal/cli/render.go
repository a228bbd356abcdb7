package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/operkit/operkit/reconcile/manifest"
	"github.com/spf13/cobra"
)

// rendering is the work of render and run --dry-run: it prints what would be applied for resources in files, without a
// cluster.
type rendering struct {
	// from is the name of the flag that names the files.
	from          string
	files, beside []string
	outputDir     string

	showSecrets, showDisabled bool
	// deletes renders the deletion of the resources.
	deletes bool

	// directory is nil when components are printed to out.
	out       io.Writer
	directory *manifest.Directory
	options   []manifest.Option
	// masked is set when values of Secrets were masked.
	masked bool
}

func (o *Operator) renderCommand() *cobra.Command {
	r := rendering{from: "filename"}
	command := &cobra.Command{
		Use:        "render -f FILE",
		SuggestFor: []string{"template", "build", "generate", "manifests"},
		Short:      "Print the objects of resources, without a cluster",
		Long: "Print what would be applied for the resources in files, in the order of the rollout, without any cluster. Temporary patches in the\n" +
			"files are applied, and if the objects include resources that this operator controls, their objects are printed, too. With --delete, print what would be\n" +
			"applied when the resources are deleted: what their Finalize rolls out.\n\n" +
			"If --resource-dir has the CustomResourceDefinition of a resource, its defaults are set, and unknown fields are left out with a warning.",
		Example: fmt.Sprintf("  %[1]s render -f sample.yaml\n  %[1]s render -f sample.yaml -r config/crd\n  %[1]s render -f resources/ --output-dir rendered\n  kubectl get -o yaml %[2]s NAME | %[1]s render -f -",
			o.Called, o.exampleKind()),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(r.files) == 0 {
				return Usage("no resources are given: use --filename FILE")
			}
			p, err := o.Open(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return r.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), o, p)
		},
	}
	r.flags(command, "f", "")
	command.Flags().BoolVar(&r.deletes, "delete", false, "render the deletion of the resources: what Finalize rolls out")
	return command
}

// besideUsage is the help of the flag --resource-dir.
const besideUsage = "file, or directory of files, with objects to treat as if they existed in the cluster, such as the CRD; repeatable"

// renderFlags are the flags of the command run that need --dry-run.
var renderFlags = []string{"cr", "resource-dir", "output-dir", "show-secrets", "show-disabled"}

func (r *rendering) flags(command *cobra.Command, shorthand, with string) {
	set := command.Flags()
	set.StringArrayVarP(&r.files, r.from, shorthand, nil, "file, or directory of files, with resources to render, '-' for standard input; repeatable"+with)
	set.StringArrayVarP(&r.beside, "resource-dir", "r", nil, besideUsage+with)
	set.StringVar(&r.outputDir, "output-dir", "", "write one file per component below this directory instead of printing"+with)
	set.BoolVar(&r.showSecrets, "show-secrets", false, "show the values of Secrets; needed to apply the output"+with)
	set.BoolVar(&r.showDisabled, "show-disabled", false, "write disabled components too, below DISABLED (with --output-dir)")
}

// run renders the resources in the order of the files. If a resource can't be rendered, run renders the others, and
// returns an error at the end. It writes warnings to log.
func (r *rendering) run(ctx context.Context, out, log io.Writer, o *Operator, p *Process) error {
	if r.showDisabled && r.outputDir == "" {
		return Usage("--show-disabled needs --output-dir")
	}
	resources, err := readResources("--"+r.from, r.files)
	if err != nil {
		return err
	}
	beside, err := readResources("--resource-dir", r.beside)
	if err != nil {
		return err
	}
	if err := o.complete(ctx, log, slices.Concat(beside, resources)...); err != nil {
		return err
	}
	resources, patches, err := o.separatePatches(resources)
	if err != nil {
		return err
	}
	r.out = out
	if err := r.open(); err != nil {
		return err
	}
	var errs []error
	for _, resource := range resources {
		rendered, err := o.render(ctx, p, resource, patchesOf(resource, patches), objectsOf(beside), r.deletes)
		for _, one := range rendered {
			if err == nil {
				err = r.write(one)
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", resource.origin, err))
		}
	}
	if r.masked {
		p.Logger.Warn("values of Secrets are masked: add --show-secrets before you apply the output")
	}
	if r.directory != nil {
		errs = append(errs, r.directory.Close())
	}
	return errors.Join(errs...)
}

func (r *rendering) open() (err error) {
	if r.showSecrets {
		r.options = append(r.options, manifest.ShowSecrets())
	}
	if r.outputDir == "" {
		return nil
	}
	if r.showDisabled {
		r.options = append(r.options, manifest.Disabled())
	}
	if r.directory, err = manifest.Open(r.outputDir, r.options...); err != nil {
		return Usage("--output-dir: %w", err)
	}
	return nil
}

// write prints the components of a resource in the order of the rollout, or writes each into a file and prints its
// path.
func (r *rendering) write(resource rendered) error {
	var errs []error
	for _, c := range resource.components {
		r.masked = r.masked || !r.showSecrets && !c.Disabled && c.HasSecrets()
		if r.directory == nil {
			errs = append(errs, manifest.Encode(r.out, c, r.options...))
		}
	}
	if r.directory == nil {
		return errors.Join(errs...)
	}
	paths, err := r.directory.Write(resource.resource, resource.components)
	for _, path := range paths {
		fmt.Fprintln(r.out, path)
	}
	if err != nil {
		return fmt.Errorf("--output-dir: %w", err)
	}
	return nil
}
