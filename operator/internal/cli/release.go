package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/finalizer"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func (o *Operator) releaseCommand() *cobra.Command {
	r := releasing{operator: o}
	command := &cobra.Command{
		Use:        "release [KIND] [NAME...]",
		SuggestFor: []string{"uninstall", "finalize", "unfinalize", "remove", "delete", "cleanup"},
		Short:      "Remove the operator's finalizers from resources, to uninstall the operator",
		Long: "Remove the finalizers of this operator from resources, so that they can be deleted when the operator doesn't run any more.\n" +
			"Finalizers of others stay. What the operator would have done before the deletion isn't done: it may leave things behind\n" +
			"outside of the cluster. So delete the resources while the operator still runs, and use this command for those that are left.\n" +
			"Stop the operator first, because it adds its finalizers again.",
		Example: fmt.Sprintf("  %[1]s release --all --all-namespaces --dry-run\n  %[1]s release %[2]s/hello\n  %[1]s release %[2]s --all -n shop --yes",
			o.Called, o.exampleKind()),
		RunE: r.run,
	}
	r.chosen.flags(command)
	o.completesResources(command, &r.chosen)
	set := command.Flags()
	set.BoolVar(&r.every, "all", false, "all resources of the operator in the namespace, or with --all-namespaces in all namespaces")
	set.BoolVar(&r.dryRun, "dry-run", false, "show what would be released, and change nothing")
	set.BoolVarP(&r.yes, "yes", "y", false, "don't ask")
	return command
}

// releasing is one call of the command release.
type releasing struct {
	operator           *Operator
	chosen             selection
	every, dryRun, yes bool
	// patches is the kind of temporary patches, empty if they are off.
	patches schema.GroupVersionKind
}

// held is a resource with the finalizers that are the operator's own.
type held struct {
	*unstructured.Unstructured
	own []string
}

func (r *releasing) run(cmd *cobra.Command, args []string) error {
	if r.every && r.chosen.labels != "" {
		return Usage("--all and --selector exclude each other")
	}
	if !r.every {
		r.chosen.unchosen = "no resources are given: name them, or use --selector or --all"
	}
	p, c, err := r.operator.attach(cmd)
	if err != nil {
		return err
	}
	names, err := r.names(cmd, p, c)
	if err != nil {
		return err
	}
	objects, byName, failed := r.chosen.resolve(cmd.Context(), c, args)
	if byName && r.every {
		return Usage("--all and names exclude each other")
	}
	found := r.heldBy(objects, names, byName)
	if len(found) == 0 {
		if failed == nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "nothing to release: no resource has a finalizer of this operator")
		}
		return failed
	}
	if err := writeHeld(cmd.OutOrStdout(), found); err != nil {
		return err
	}
	for _, warning := range r.operator.running(cmd.Context(), p, c, "it adds its finalizers again") {
		write(cmd.ErrOrStderr(), "warning: %s", warning)
	}
	switch {
	case r.dryRun:
		fmt.Fprintln(cmd.OutOrStdout(), "nothing was changed (dry run)")
		return failed
	case !r.yes && !confirmed(cmd.InOrStdin(), cmd.ErrOrStderr(), "Remove these finalizers? [y/N] "):
		return Usage("nothing was released: answer y, or give --yes")
	}
	return errors.Join(failed, r.release(cmd, c, found))
}

// names returns the operator's own finalizers for each kind, and drops the kinds that the cluster doesn't serve, which
// have no resources.
func (r *releasing) names(cmd *cobra.Command, p *Process, c *connection) (map[schema.GroupKind][]string, error) {
	o, ctx := r.operator, cmd.Context()
	manager, err := o.Manager(c)
	if err != nil {
		return nil, err
	}
	names := map[schema.GroupKind][]string{}
	for _, kind := range c.kinds {
		names[kind.GroupKind()] = finalizer.Names(kind)
	}
	for _, kind := range o.Kinds {
		if names[kind.GroupKind()], err = p.Finalizers(ctx, kind.GroupVersionKind, manager); err != nil {
			return nil, err
		}
	}
	for _, kind := range c.kinds {
		if o.controls(kind) {
			continue
		}
		own, err := p.Finalizers(ctx, kind, manager)
		if err != nil {
			write(cmd.ErrOrStderr(), "warning: %s: only the finalizers that every operator has are looked for: %v", kind.Kind, err)
			continue
		}
		names[kind.GroupKind()] = own
	}
	patches, err := o.Patches(manager)
	if err != nil {
		return nil, err
	}
	if patches != nil {
		r.patches = patches.Kind()
		c.kinds, names[r.patches.GroupKind()] = append(c.kinds, r.patches), finalizer.Names(r.patches)
	}
	served := c.kinds[:0:0]
	for _, kind := range c.kinds {
		_, err := c.Port().Scope(ctx, kind)
		switch {
		case !is[*deploy.KindUnknownError](err):
			served = append(served, kind)
		case o.controls(kind):
			write(cmd.ErrOrStderr(), "%s: the cluster doesn't serve this kind, so there is nothing to release", kind.Kind)
		}
	}
	c.kinds = served
	return names, nil
}

// controls reports whether a kind is one of Kinds.
func (o *Operator) controls(kind schema.GroupVersionKind) bool {
	return slices.ContainsFunc(o.Kinds, func(k Kind) bool { return k.GroupKind() == kind.GroupKind() })
}

// heldBy returns the resources with a finalizer in names. Temporary patches are served by every operator: only those
// for one of the kinds count, unless they are named.
func (r *releasing) heldBy(objects []*unstructured.Unstructured, names map[schema.GroupKind][]string, byName bool) (found []held) {
	for _, obj := range objects {
		own := slices.DeleteFunc(obj.GetFinalizers(), func(name string) bool {
			return !slices.Contains(names[obj.GroupVersionKind().GroupKind()], name)
		})
		isForeign := obj.GroupVersionKind() == r.patches && !r.operator.controls(temporarypatch.Target(obj).Kind)
		if len(own) > 0 && (byName || !isForeign) {
			found = append(found, held{obj, own})
		}
	}
	return found
}

// writeHeld writes a table of resources with the finalizers that are to be removed.
func writeHeld(out io.Writer, found []held) error {
	rows := [][]string{{"KIND", "NAME", "DELETED", "FINALIZERS"}}
	for _, one := range found {
		name, deleted := one.GetName(), "no"
		if one.GetNamespace() != "" {
			name = one.GetNamespace() + "/" + name
		}
		if one.GetDeletionTimestamp() != nil {
			deleted = "yes"
		}
		rows = append(rows, []string{one.GetKind(), name, deleted, strings.Join(one.own, " ")})
	}
	return writeWhole(out, rows)
}

// release removes the finalizers. It goes on after an error, and returns all errors.
func (r *releasing) release(cmd *cobra.Command, c *connection, found []held) error {
	manager, err := deploy.NewManager(c, deploy.FieldManager(r.operator.fieldManager()))
	if err != nil {
		return err
	}
	own := map[deploy.Ref][]string{}
	objects := make([]*unstructured.Unstructured, len(found))
	for i, one := range found {
		objects[i], own[deploy.RefOf(one.Unstructured)] = one.Unstructured, one.own
	}
	return c.each(objects, func(obj *unstructured.Unstructured) error {
		ref := deploy.RefOf(obj)
		left, err := withoutFinalizers(cmd.Context(), manager, ref, own[ref])
		if err != nil {
			return err
		}
		outcome := "released"
		if len(left) > 0 {
			outcome += ", still held by " + strings.Join(left, ", ")
		}
		fmt.Fprintln(cmd.OutOrStdout(), ref, outcome)
		return nil
	})
}

// withoutFinalizers removes finalizers from a resource, and returns those that are left. A resource that is gone needs
// no change.
func withoutFinalizers(ctx context.Context, manager *deploy.Manager, ref deploy.Ref, own []string) (left []string, err error) {
	needed := false
	result, err := manager.Change(ctx, ref, func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		next := current.DeepCopy()
		left = slices.DeleteFunc(next.GetFinalizers(), func(name string) bool { return slices.Contains(own, name) })
		needed = len(left) < len(current.GetFinalizers())
		next.SetFinalizers(left)
		return next, nil
	})
	if err != nil || !needed || result.Action != deploy.Unchanged {
		return left, err
	}
	// The object is gone, or a webhook has reverted the change.
	switch current, err := manager.Port().Get(ctx, ref); {
	case err != nil:
		return left, err
	case current != nil && slices.ContainsFunc(current.GetFinalizers(), func(name string) bool { return slices.Contains(own, name) }):
		return left, errors.New("finalizers: the API server reverted the change: look for a webhook or a policy that does so")
	}
	return left, nil
}
