package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// renderFlags say what is rendered without a cluster, and into what.
type renderFlags struct {
	// from is the flag that names files.
	from      string
	files     []string
	beside    []string
	outputDir string

	showSecrets, showDisabled bool
	// deletes: the deletion of the resources is rendered.
	deletes bool
}

// flags adds those but the one that names files.
func (f *renderFlags) flags(command *cobra.Command, with string) {
	set := command.Flags()
	set.StringArrayVarP(&f.beside, "resource-dir", "r", nil, "file, or directory of files, with objects that are in the cluster already; repeatable"+with)
	set.StringVar(&f.outputDir, "output-dir", "", "write one file per component below this directory instead of printing"+with)
	set.BoolVar(&f.showSecrets, "show-secrets", false, "leave the values of Secrets in the clear, as is needed to apply the output"+with)
	set.BoolVar(&f.showDisabled, "show-disabled", false, "write disabled components too, below DISABLED (with --output-dir)")
}

// dryRun rolls the given resources out against a cluster in memory and prints, in the order
// of the rollout, what would be applied. A resource that can't be rendered doesn't keep the
// others from being; all errors are reported at the end.
func (o *Operator) dryRun(ctx context.Context, out io.Writer, p *process, flags renderFlags) error {
	if flags.showDisabled && flags.outputDir == "" {
		return usage("--show-disabled goes with --output-dir")
	}
	resources, err := readResources(flags.from, flags.files)
	if err != nil {
		return err
	}
	beside, err := readResources("--resource-dir", flags.beside)
	if err != nil {
		return err
	}
	if err := o.putInNamespaces(ctx, slices.Concat(beside, resources)...); err != nil {
		return err
	}
	resources, patches, err := o.separatePatches(resources)
	if err != nil {
		return err
	}
	writer, err := newRenderer(out, flags)
	if err != nil {
		return err
	}
	var errs []error
	for _, resource := range resources {
		renderings, err := o.render(ctx, p, resource, patches.of(resource), objectsOf(beside), flags.deletes)
		for _, one := range renderings {
			if err != nil {
				break
			}
			err = writer.write(one.resource, one.components)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", resource.origin, err))
		}
	}
	errs = append(errs, writer.close(p.logger))
	return errors.Join(errs...)
}

func objectsOf(files []resourceFile) []*unstructured.Unstructured {
	objects := make([]*unstructured.Unstructured, len(files))
	for i, file := range files {
		objects[i] = file.object
	}
	return objects
}
