package operator

import (
	"errors"
	"fmt"
	"io"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator/config"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func (o *Operator) statusCommand(settings *config.Settings) *cobra.Command {
	var chosen selection
	var output output
	var live bool
	command := &cobra.Command{
		Use:   "status [KIND] [NAME...]",
		Short: "Show how resources are: all in a table, a named one with its components and conditions",
		Example: fmt.Sprintf("  %[1]s status\n  %[1]s status --all-namespaces --selector tier=prod\n  %[1]s status hello\n  %[1]s status hello --watch\n  %[1]s status %[2]s/hello -o yaml",
			o.callName(), o.example()),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, c, err := o.attach(cmd, settings)
			if err != nil {
				return err
			}
			if live {
				return o.watchStatus(cmd, p, c, &chosen, args, output)
			}
			found, err := chosen.resolve(cmd.Context(), c, o.controlledKinds(), args)
			if len(found.objects) == 0 && output.format == "table" {
				if err == nil {
					fmt.Fprintln(cmd.ErrOrStderr(), "there are none")
				}
				return err
			}
			return errors.Join(err, output.print(cmd.OutOrStdout(), o.statesOf(found.objects, chosen.all, found.byName)))
		},
	}
	chosen.flags(command)
	output.flag(command)
	command.Flags().BoolVarP(&live, "watch", "w", false, "go on, and show each change until interrupted")
	return command
}

// statesOf are the states of resources, maybe of several namespaces, and maybe each at length.
func (o *Operator) statesOf(objects []*unstructured.Unstructured, namespaces, details bool) states {
	s := states{kinds: len(o.controllers) > 1, namespaces: namespaces, details: details}
	for _, obj := range objects {
		s.all = append(s.all, newState(obj, o.domain))
	}
	return s
}

// watchStatus shows how resources are at each moment.
func (o *Operator) watchStatus(cmd *cobra.Command, p *process, c *connection, chosen *selection, args []string, output output) error {
	w, err := o.watch(cmd.Context(), p, c, chosen, args)
	if err != nil {
		return err
	}
	defer w.stop()
	s := &screen{out: cmd.OutOrStdout(), stream: output.format != "table", between: map[string]string{"table": "\n", "yaml": "---\n"}[output.format]}
	return w.show(cmd.Context(), s, func(out io.Writer, objects []*unstructured.Unstructured, missing []deploy.Ref) error {
		if output.format == "table" && len(objects)+len(missing) == 0 {
			_, err := fmt.Fprintln(out, "there are none")
			return err
		}
		if len(objects) > 0 || output.format != "table" {
			if err := output.print(out, o.statesOf(objects, chosen.all, len(w.refs) > 0)); err != nil {
				return err
			}
		}
		for _, ref := range missing {
			if output.format == "table" {
				fmt.Fprintf(out, "%s: there is none\n", ref)
			}
		}
		return nil
	})
}
