package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/operator/internal/settings"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const definition = "CustomResourceDefinition"

// complete turns the resources of files into what an API server would store: they get the namespace "default" if they
// need one, and the defaults of the CustomResourceDefinitions among the files. Fields that their kinds don't have are
// left out, with a warning on log. For kinds of the operator without a definition it
// writes what is missing.
func (o *Operator) complete(ctx context.Context, log io.Writer, files ...resourceFile) error {
	var definitions []*unstructured.Unstructured
	for _, file := range files {
		if file.object.GetKind() == definition {
			definitions = append(definitions, file.object)
		}
	}
	memory, err := o.memory(dryrun.Objects(definitions...))
	if err != nil {
		return err
	}
	var undefined []string
	for _, file := range files {
		kind := file.object.GroupVersionKind()
		file.checkKeys(log)
		if err := putInNamespace(ctx, memory, file); err != nil {
			return err
		}
		known, err := completeIn(memory, log, file)
		if err != nil {
			return err
		}
		if !known && o.hasComponents(kind) && !slices.Contains(undefined, kind.Kind) {
			undefined = append(undefined, kind.Kind)
		}
	}
	if len(undefined) > 0 {
		write(log, "%s: no defaults are set and no spelling is checked, for lack of the CustomResourceDefinition: give its file or folder with --resource-dir",
			strings.Join(undefined, ", "))
	}
	return nil
}

// putInNamespace puts a resource without a namespace into "default", unless its kind is cluster-scoped according to a
// controller or to a CustomResourceDefinition.
func putInNamespace(ctx context.Context, memory *dryrun.Cluster, file resourceFile) error {
	if file.object.GetNamespace() != "" {
		return nil
	}
	scope, err := memory.Port().Scope(ctx, file.object.GroupVersionKind())
	if err != nil {
		return Usage("%s: %w", file.origin, err)
	}
	if scope == deploy.Namespaced {
		file.object.SetNamespace("default")
	}
	return nil
}

// checkKeys warns about keys that the document of a resource has twice.
func (f resourceFile) checkKeys(log io.Writer) {
	if f.twice != "" {
		f.warn(log, "%s: the last value counts", f.twice)
	}
}

func (f resourceFile) warn(log io.Writer, format string, args ...any) {
	write(log, "warning: %s: %s", f.origin, fmt.Sprintf(format, args...))
}

// write writes a line. On a terminal it is wrapped.
func write(log io.Writer, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if columns := columnsOf(log); columns > 0 {
		text = strings.Join(wrap(text, columns), "\n")
	}
	fmt.Fprintln(log, text)
}

// completeIn completes the resource of a file by the definitions in memory, and warns about what is left out of it. It
// reports whether its kind has a schema.
func completeIn(memory *dryrun.Cluster, log io.Writer, file resourceFile) (known bool, err error) {
	if file.object.GetKind() == definition {
		return true, nil
	}
	completed, err := memory.Complete(file.object)
	if err != nil {
		return false, Usage("%s: %w", file.origin, err)
	}
	for _, unknown := range completed.Unknown {
		name := unknown.Path[strings.LastIndexByte(unknown.Path, '.')+1:]
		file.warn(log, "unknown field %q is left out%s", unknown.Path, settings.Suggestion(name, unknown.Beside, ""))
	}
	file.object.Object = completed.Object.Object
	return !completed.Schemaless, nil
}

// definitionIn returns the CustomResourceDefinition of a kind from the cluster, or nil if it can't be read.
func (c *connection) definitionIn(ctx context.Context, kind schema.GroupVersionKind) *unstructured.Unstructured {
	served, _ := c.View().(deploy.KindView).Kinds(ctx) // without the plural name the definition can't be read
	at := slices.IndexFunc(served, func(one deploy.ServedKind) bool { return one.Kind == kind })
	if at < 0 {
		return nil
	}
	crd := schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: definition}
	found, err := c.Port().Get(ctx, deploy.Ref{Kind: crd, Name: served[at].Resource + "." + kind.Group})
	if err != nil {
		return nil
	}
	return found
}
