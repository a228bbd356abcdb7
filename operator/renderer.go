package operator

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/manifest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// renderer prints rendered components as one stream of YAML documents, or writes each into a
// file of its own below a directory.
type renderer struct {
	out     io.Writer
	options []manifest.Option
	// secrets are shown.
	secrets bool
	// directory is nil when the components are printed.
	directory *manifest.Directory
	// masked tells that something was left out.
	masked bool
}

func newRenderer(out io.Writer, flags renderFlags) (*renderer, error) {
	r := &renderer{out: out, secrets: flags.showSecrets}
	if flags.showSecrets {
		r.options = append(r.options, manifest.ShowSecrets())
	}
	if flags.outputDir == "" {
		return r, nil
	}
	if flags.showDisabled {
		r.options = append(r.options, manifest.Disabled())
	}
	directory, err := manifest.Open(flags.outputDir, r.options...)
	if err != nil {
		return nil, usage("--output-dir: %w", err)
	}
	r.directory = directory
	return r, nil
}

// write writes the components of one resource, in the order of the rollout.
func (r *renderer) write(resource *unstructured.Unstructured, components []manifest.Component) error {
	for _, c := range components {
		r.masked = r.masked || !r.secrets && !c.Disabled && c.HasSecrets()
	}
	if r.directory == nil {
		return r.print(components)
	}
	paths, err := r.directory.Write(deploy.RefOf(resource), components)
	for _, path := range paths {
		fmt.Fprintln(r.out, path)
	}
	if err != nil {
		return fmt.Errorf("--output-dir: %w", err)
	}
	return nil
}

func (r *renderer) print(components []manifest.Component) error {
	var errs []error
	for _, c := range components {
		errs = append(errs, manifest.Encode(r.out, c, r.options...))
	}
	return errors.Join(errs...)
}

// close says what whoever pipes the output on has to know: applied, a mask would be the password.
func (r *renderer) close(logger *slog.Logger) error {
	if r.masked {
		logger.Warn("values of Secrets are masked: don't apply this, or add --show-secrets")
	}
	if r.directory == nil {
		return nil
	}
	return r.directory.Close()
}
