package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/dag/draw"
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// graphFormats are the formats in which graphs are drawn.
var graphFormats = []string{"text", "dot", "mermaid", "svg"}

func (o *Operator) graphCommand() *cobra.Command {
	var chosen selection
	var beside []string
	format := "text"
	command := &cobra.Command{
		Use:        "graph [KIND] NAME | graph -f FILE",
		SuggestFor: []string{"tree", "draw", "components"},
		Short:      "Show the components of a resource and their dependencies",
		Long: "Show the components of a resource and their dependencies. A resource in the cluster is shown with the state of each component. A resource\n" +
			"in a file needs no cluster. SVG is a picture for browsers, DOT is for Graphviz, Mermaid for Markdown.",
		Example: fmt.Sprintf("  %[1]s graph hello\n  %[1]s graph -f sample.yaml -r config/crd -o mermaid\n  %[1]s graph hello -o svg > hello.svg", o.Called),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(graphFormats, format) {
				return Usage("--output %q: use %s", format, strings.Join(graphFormats, ", "))
			}
			p, err := o.Open(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			ctx, out := cmd.Context(), cmd.OutOrStdout()
			if len(chosen.files) > 0 && len(args) == 0 {
				return o.graphOffline(ctx, out, cmd.ErrOrStderr(), p, chosen.files, beside, format)
			}
			if len(beside) > 0 {
				return Usage("--resource-dir needs --filename: a resource in the cluster is shown as the cluster has it")
			}
			if len(args) == 0 || len(chosen.files) > 0 {
				return Usage("graph: give either NAME or --filename FILE")
			}
			c, err := o.connect(ctx, p)
			if err != nil {
				return err
			}
			objects, byName, err := chosen.resolve(ctx, c, args)
			if !byName {
				objects = o.withComponents(cmd.ErrOrStderr(), objects)
			}
			return errors.Join(err, c.each(objects, func(obj *unstructured.Unstructured) error {
				return o.graph(ctx, out, p, c, obj, format, stateOf(obj))
			}))
		},
	}
	chosen.flags(command)
	command.Flags().StringArrayVarP(&beside, "resource-dir", "r", nil, besideUsage+" (with --filename)")
	command.Flags().StringVarP(&format, "output", "o", format, strings.Join(graphFormats, ", "))
	completesOutput(command, graphFormats...)
	o.completesResources(command, &chosen)
	return command
}

// graphOffline draws the resources of files, without a cluster. The objects of the files beside exist. It writes
// warnings to log.
func (o *Operator) graphOffline(ctx context.Context, out, log io.Writer, p *Process, names, beside []string, format string) error {
	files, err := readResources("--filename", names)
	if err != nil {
		return err
	}
	existing, err := readResources("--resource-dir", beside)
	if err != nil {
		return err
	}
	if err := o.complete(ctx, log, slices.Concat(existing, files)...); err != nil {
		return err
	}
	var errs []error
	for _, file := range files {
		memory, err := o.memoryOf(file.object, objectsOf(existing))
		var obj *unstructured.Unstructured
		if err == nil {
			obj, err = memory.View().Get(ctx, deploy.RefOf(file.object))
		}
		if err == nil {
			err = o.graph(ctx, out, p, memory, obj, format, dag.State{})
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", file.origin, err))
		}
	}
	return errors.Join(errs...)
}

// graph draws the components of a resource. With the zero state it doesn't show the states of the components.
func (o *Operator) graph(
	ctx context.Context, out io.Writer, p *Process, on deploy.Cluster, obj *unstructured.Unstructured, format string, state dag.State,
) error {
	reconciler, err := o.reconciler(ctx, p, on, obj.GroupVersionKind())
	if err != nil {
		return err
	}
	graph, err := reconciler.Graph(ctx, obj)
	if err != nil {
		return err
	}
	switch format {
	case "dot":
		_, err = io.WriteString(out, draw.DOT(graph, state))
	case "mermaid":
		_, err = io.WriteString(out, draw.Mermaid(graph, state))
	case "svg":
		_, err = io.WriteString(out, draw.SVG(graph, state))
	default:
		err = writeGraph(out, graph, state)
	}
	return err
}

// writeGraph writes a graph as a table, in an order in which its components may be deployed.
func writeGraph(out io.Writer, graph *dag.Graph[*reconcile.Component], state dag.State) error {
	rows := [][]string{{"COMPONENT", "WAITS FOR"}}
	states := state != (dag.State{}) || slices.ContainsFunc(graph.Nodes(), func(node dag.Node) bool { return node.Disabled })
	if states {
		rows[0] = append(rows[0], "STATE")
	}
	for _, name := range graph.Topology() {
		row := []string{name, cmp.Or(strings.Join(graph.Dependencies(name), ", "), "-")}
		if states {
			row = append(row, stateText(graph, state, name))
		}
		rows = append(rows, row)
	}
	return writeWhole(out, rows)
}

// stateText returns the state of a component: of a disabled one that it is disabled, unless its removal failed.
func stateText(graph *dag.Graph[*reconcile.Component], state dag.State, name string) string {
	outcome, known := state.Outcome(name)
	if component, _ := graph.Node(name); component.Disabled() && (!known || outcome == dag.OutcomeUnstarted) {
		return string(reconcile.Disabled)
	}
	switch {
	case known:
		return outcome.String()
	case state == (dag.State{}):
		return "-"
	}
	return "not known"
}

// stateOf returns the states of the components of a resource, or the zero state if its status doesn't have them.
func stateOf(obj *unstructured.Unstructured) dag.State {
	fields := componentsOf(obj)
	if fields == nil {
		return dag.State{}
	}
	o := dag.Outcomes{Verified: fields.VerifiedComponents, Unverified: fields.UnverifiedComponents, Failed: fields.FailedComponents, Reasons: map[string]string{}}
	for _, c := range statesOfComponents(fields) {
		if c.State == reconcile.Unstarted {
			o.Unstarted, o.Reasons[c.Name] = append(o.Unstarted, c.Name), c.Message
		}
	}
	state, _ := dag.NewState(o) // the state of a contradictory status is unknown
	return state
}
