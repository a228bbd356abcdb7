package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// errDifferent is the error of diff when there are differences. Only the exit code reports it.
var errDifferent = errors.New("there are differences")

func (o *Operator) diffCommand() *cobra.Command {
	var chosen selection
	var openGates bool
	format := "diff"
	command := &cobra.Command{
		Use:        "diff [KIND] [NAME...]",
		SuggestFor: []string{"plan", "compare", "preview"},
		Short:      "Show what a reconcile of resources would change now",
		Long: "Show what a reconcile of resources would change in the cluster now, or after the resources in files are applied. Nothing is changed: all\n" +
			"requests to the API server are dry runs. Values of Secrets are shown as digests. The status isn't compared. A component that would\n" +
			"wait for another one now is named, but not compared, unless --open-gates is given.\n\n" +
			"The exit code is 0 if nothing would change, 1 if something would change, and 2 if the command fails.",
		Example: fmt.Sprintf("  %[1]s diff hello\n  %[1]s diff --all-namespaces\n  %[1]s diff -f edited.yaml", o.Called),
		RunE: func(cmd *cobra.Command, args []string) error {
			var options []reconcile.PlanOption
			if openGates {
				options = append(options, reconcile.OpenGates())
			}
			changed, err := o.diff(cmd, &chosen, format, args, options...)
			switch {
			case err != nil:
				return exitError{err, 2}
			case changed:
				return exitError{errDifferent, 1}
			}
			return nil
		},
	}
	chosen.flags(command)
	command.Flags().BoolVar(&openGates, "open-gates", false, "show what will change in the end: components that would wait now, too, and what is pruned after them")
	command.Flags().StringVarP(&format, "output", "o", format, "diff, yaml or json")
	completesOutput(command, "diff", "yaml", "json")
	o.completesResources(command, &chosen)
	return command
}

// diff shows what a reconcile of the chosen resources would change, and reports whether it would change anything.
func (o *Operator) diff(cmd *cobra.Command, chosen *selection, format string, args []string, options ...reconcile.PlanOption) (changed bool, err error) {
	if !slices.Contains([]string{"diff", "yaml", "json"}, format) {
		return false, Usage("--output %q: use diff, yaml or json", format)
	}
	p, c, err := o.attach(cmd)
	if err != nil {
		return false, err
	}
	ctx, log := cmd.Context(), cmd.ErrOrStderr()
	objects, err := o.wanted(ctx, log, c, chosen, args)
	var plans plans
	more := c.each(objects, func(obj *unstructured.Unstructured) error {
		switch {
		case obj.GetDeletionTimestamp() != nil:
			fmt.Fprintf(log, "%s is being deleted: there is nothing to compare\n", deploy.RefOf(obj))
			return nil
		case newState(obj, o.Domain).Reason == pausedReason:
			fmt.Fprintf(log, "%s is paused: these changes will be made when it is resumed\n", deploy.RefOf(obj))
		}
		plan, err := o.plan(ctx, p, c, obj, options...)
		if plan != nil {
			plans = append(plans, plan)
			changed = changed || plan.Changed()
		}
		return err
	})
	if format == "diff" {
		format = "table"
	}
	return changed, errors.Join(err, more, output(format).print(cmd.OutOrStdout(), plans))
}

// wanted returns the chosen resources as the cluster has them. For files it returns the resources that the cluster
// would have after the files are applied.
func (o *Operator) wanted(ctx context.Context, log io.Writer, c *connection, s *selection, args []string) (objects []*unstructured.Unstructured, err error) {
	if len(s.files) == 0 {
		objects, byName, err := s.resolve(ctx, c, args)
		if !byName {
			objects = o.withComponents(log, objects)
		}
		return objects, err
	}
	if len(args) > 0 || s.labels != "" || s.all {
		return nil, Usage("--filename can't be combined with names, --selector or --all-namespaces: leave them out")
	}
	files, err := readResources("--filename", s.files)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, file := range files {
		file.checkKeys(log)
		applied, err := o.dryApply(ctx, log, c, s, file)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", file.origin, err))
			continue
		}
		objects = append(objects, applied)
	}
	return objects, errors.Join(errs...)
}

// dryApply returns the resource that the cluster would store if the resource's spec were replaced by the spec of given.
// Its writes are dry runs. Unknown fields are left out with a warning on log, if the definition of the kind can be read;
// otherwise the cluster refuses them. dryApply modifies the object of the file.
func (o *Operator) dryApply(ctx context.Context, log io.Writer, c *connection, s *selection, file resourceFile) (*unstructured.Unstructured, error) {
	given := file.object
	if err := o.checkComponents(given.GroupVersionKind()); err != nil {
		return nil, err
	}
	if err := o.checkSpelling(ctx, log, c, file); err != nil {
		return nil, err
	}
	ref, err := s.ref(ctx, c, given.GroupVersionKind(), given.GetNamespace(), given.GetName())
	if err != nil {
		return nil, err
	}
	annotations, labels := given.GetAnnotations(), given.GetLabels()
	unstructured.RemoveNestedField(given.Object, "status")
	live, err := c.Port().Get(ctx, ref)
	if err == nil && live == nil {
		given.Object["metadata"] = map[string]any{"name": ref.Name, "namespace": ref.Namespace}
		given.SetAnnotations(annotations)
		given.SetLabels(labels)
		created, err := c.Port().Create(ctx, given, deploy.CreateOptions{FieldManager: o.fieldManager(), DryRun: true})
		return created, c.explained(err)
	}
	if err != nil {
		return nil, c.explained(err)
	}
	live = live.DeepCopy()
	given.Object["metadata"] = live.Object["metadata"]
	all := live.GetAnnotations()
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, annotations)
	given.SetAnnotations(all)
	if labels != nil {
		given.SetLabels(labels)
	}
	if status, found := live.Object["status"]; found {
		given.Object["status"] = status
	}
	updated, err := c.Port().Update(ctx, given, deploy.UpdateOptions{FieldManager: o.fieldManager(), DryRun: true})
	return updated, c.explained(err)
}

// checkSpelling leaves out the fields of a resource that the definition in the cluster doesn't have, with a warning for
// each. It does nothing if the definition can't be read.
func (o *Operator) checkSpelling(ctx context.Context, log io.Writer, c *connection, file resourceFile) error {
	defined := c.definitionIn(ctx, file.object.GroupVersionKind())
	if defined == nil {
		return nil
	}
	memory, err := o.memory(dryrun.Objects(defined))
	if err != nil {
		return nil //nolint:nilerr // the cluster checks the resource itself
	}
	_, err = completeIn(memory, log, file)
	return err
}

// plan returns what a reconcile of a resource would change. The error names the parts that couldn't be computed.
func (o *Operator) plan(ctx context.Context, p *Process, c *connection, obj *unstructured.Unstructured, options ...reconcile.PlanOption) (*reconcile.Plan, error) {
	reconciler, err := o.reconciler(ctx, p, c, obj.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.Watch.Timeout)
	defer cancel()
	plan, err := reconciler.Plan(ctx, obj, options...)
	if err != nil {
		return plan, err
	}
	return plan, plan.Err()
}

// plans has the changes that a reconcile would make, for each resource.
type plans []*reconcile.Plan

// table writes the differences as a unified diff.
func (p plans) table(out io.Writer) error {
	var text strings.Builder
	for _, plan := range p {
		for _, c := range plan.Components {
			text.WriteString(c.Differences.String() + remarks(c.Differences))
			if c.Waits != "" {
				fmt.Fprintf(&text, "# %s: component %s isn't compared: it %s\n", deploy.RefOf(plan.Resource), c.Component.Name(), c.Waits)
			}
		}
		text.WriteString(plan.Pruned.String())
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// remarks names the objects in which only the managedFields would change, and the fields that the operator leaves to
// other field managers.
func remarks(differences deploy.Differences) (lines string) {
	for _, d := range differences {
		if (deploy.Differences{d}).Changed() && d.Unified == "" {
			lines += fmt.Sprintf("# %s: only the managedFields would change\n", d.Ref)
		}
		for _, field := range d.Kept {
			lines += fmt.Sprintf("# %s: %s\n", d.Ref, oneLine(field.Left()))
		}
	}
	return lines
}

// plannedChange is the change that a reconcile would make to an object, or a component that it wouldn't deploy now.
type plannedChange struct {
	Resource  string `json:"resource"`
	Component string `json:"component,omitempty"`
	// Waits is what the component waits for. Then no object of it is compared.
	Waits   string        `json:"waits,omitempty"`
	Object  string        `json:"object,omitempty"`
	Action  deploy.Action `json:"action,omitempty"`
	Changes []string      `json:"changes,omitempty"`
	// Left are the fields whose values the operator leaves to other field managers.
	Left []string `json:"left,omitempty"`
}

func (p plans) document() any {
	list := []plannedChange{}
	for _, plan := range p {
		resource := deploy.RefOf(plan.Resource).String()
		add := func(component string, differences deploy.Differences) {
			for _, d := range differences {
				one := plannedChange{Resource: resource, Component: component, Object: d.Ref.String(), Action: d.Action}
				for _, change := range d.Changes {
					one.Changes = append(one.Changes, change.String())
				}
				for _, field := range d.Kept {
					one.Left = append(one.Left, field.Left())
				}
				list = append(list, one)
			}
		}
		for _, c := range plan.Components {
			if c.Waits != "" {
				list = append(list, plannedChange{Resource: resource, Component: c.Component.Name(), Waits: c.Waits})
			}
			add(c.Component.Name(), c.Differences)
		}
		add("", plan.Pruned)
	}
	return list
}
