package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// errDifferent tells that there are differences, by the exit code alone.
var errDifferent = errors.New("there are differences")

func (o *Operator) diffCommand(settings *config.Settings) *cobra.Command {
	var chosen selection
	var output output
	command := &cobra.Command{
		Use:   "diff [KIND] [NAME...]",
		Short: "Show what a reconcile of resources would change now",
		Long: "Show what a reconcile of resources would change in the cluster now, or, of those in files, if they were applied. Nothing is changed: the\n" +
			"API server is asked by requests that are dry runs. Values of Secrets are shown as digests. The status isn't compared.\n\n" +
			"The exit code is 0 when nothing would change, 1 when something would, and 2 when that can't be told.",
		Example: fmt.Sprintf("  %[1]s diff hello\n  %[1]s diff --all-namespaces\n  %[1]s diff -f edited.yaml", o.callName()),
		RunE: func(cmd *cobra.Command, args []string) error {
			different, err := o.diffChosen(cmd, settings, &chosen, output, args)
			switch {
			case err != nil:
				return &exitError{err, 2}
			case different:
				return &exitError{errDifferent, 1}
			}
			return nil
		},
	}
	chosen.flags(command)
	command.Flags().StringVarP(&output.format, "output", "o", "diff", "diff, yaml or json")
	return command
}

// diffChosen shows what would change of the resources that somebody chose, and tells whether anything would.
func (o *Operator) diffChosen(cmd *cobra.Command, settings *config.Settings, chosen *selection, format output, args []string) (different bool, err error) {
	if !slices.Contains([]string{"diff", "yaml", "json"}, format.format) {
		return false, usage("--output %q: use diff, yaml or json", format.format)
	}
	p, c, err := o.attach(cmd, settings)
	if err != nil {
		return false, err
	}
	objects, err := o.chosen(cmd.Context(), c, chosen, args)
	objects = slices.DeleteFunc(objects, func(obj *unstructured.Unstructured) bool {
		if obj.GetDeletionTimestamp() == nil {
			return false
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s is being deleted: there is nothing to compare\n", deploy.RefOf(obj))
		return true
	})
	for _, obj := range objects {
		if newState(obj, o.domain).Reason == pausedReason {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s is paused: this is for when it is resumed\n", deploy.RefOf(obj))
		}
	}
	different, more := o.diff(cmd.Context(), cmd.OutOrStdout(), p, c, objects, format)
	return different, errors.Join(err, more)
}

// chosen are resources of the cluster, or those of files as they would be.
func (o *Operator) chosen(ctx context.Context, c *connection, s *selection, args []string) ([]*unstructured.Unstructured, error) {
	if len(s.files) > 0 {
		if len(args) > 0 || s.labels != "" || s.all {
			return nil, usage("--filename says which resources: leave names, --selector and --all-namespaces out")
		}
		return o.asGiven(ctx, c, s)
	}
	found, err := s.resolve(ctx, c, o.controlledKinds(), args)
	return found.objects, err
}

// diff shows what would change of each resource, and tells whether anything would.
func (o *Operator) diff(ctx context.Context, out io.Writer, p *process, c *connection, objects []*unstructured.Unstructured, format output) (different bool, err error) {
	var plans plans
	var errs []error
	for _, obj := range objects {
		plan, err := o.plan(ctx, p, c, obj)
		if plan != nil {
			plans = append(plans, plan)
			different = different || plan.Changed()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", deploy.RefOf(obj), c.advised(err)))
		}
	}
	if format.format == "diff" {
		format.format = "table"
	}
	return different, errors.Join(append(errs, format.print(out, plans))...)
}

// plans shows what would change.
type plans []*reconcile.Plan

// table is the differences as a unified diff.
func (p plans) table(out io.Writer) error {
	for _, plan := range p {
		for _, c := range plan.Components {
			if _, err := io.WriteString(out, c.Differences.String()+ownershipOnly(c.Differences)+leftToOthers(c.Differences)); err != nil {
				return err
			}
		}
		if _, err := io.WriteString(out, plan.Pruned.String()); err != nil {
			return err
		}
	}
	return nil
}

// ownershipOnly names the objects of which nothing would change that can be shown.
func ownershipOnly(differences deploy.Differences) (lines string) {
	for _, d := range differences {
		if (deploy.Differences{d}).Changed() && d.Unified == "" {
			lines += fmt.Sprintf("# %s: only the ownership of fields would change\n", d.Ref)
		}
	}
	return lines
}

// leftToOthers names the fields that stay as others have set them, whatever the resource says.
func leftToOthers(differences deploy.Differences) (lines string) {
	for _, d := range differences {
		for _, field := range d.Kept {
			lines += fmt.Sprintf("# %s: %s\n", d.Ref, oneLine(field.Left()))
		}
	}
	return lines
}

// plannedChange is what would become of one object.
type plannedChange struct {
	Resource  string        `json:"resource"`
	Component string        `json:"component,omitempty"`
	Object    string        `json:"object"`
	Action    deploy.Action `json:"action"`
	Changes   []string      `json:"changes,omitempty"`
	// Left are the fields that are left to others.
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
			add(c.Component.Name(), c.Differences)
		}
		add("", plan.Pruned)
	}
	return list
}
