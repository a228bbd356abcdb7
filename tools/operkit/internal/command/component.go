package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/operkit/internal/name"
	"github.com/operkit/operkit/tools/operkit/internal/project"
	"github.com/operkit/operkit/tools/operkit/internal/record"
	"github.com/operkit/operkit/tools/operkit/internal/source"
	"github.com/spf13/cobra"
)

const componentHelp = `component adds a component to a controller. It writes a file with a Go type, whose method Build
adds the component's objects (at first a ConfigMap), and a file with a test. It adds the right to
manage ConfigMaps to the role of the operator, and a line to the controller's method Setup.

The line goes before the return at the end of Setup. If Setup ends in another way, the command
doesn't change the controller, and prints the line for you to add. Existing files aren't changed
either, so you can run the command again.`

const componentExamples = `  operkit add component cache
  operkit add component web --after cache,server
  operkit add component archive --kind Backup`

func (p *program) addComponent() *cobra.Command {
	var kind, dir string
	var after []string
	cmd := &cobra.Command{
		Use:                   "component NAME [flags]",
		Short:                 "Add a component to a controller",
		Long:                  componentHelp,
		Example:               componentExamples,
		DisableFlagsInUseLine: true,
		Args:                  one("NAME, such as cache"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.component(cmd.Context(), dir, args[0], kind, after)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&kind, "kind", "", "`KIND` whose controller gets the component; needed if there are several")
	flags.StringSliceVar(&after, "after", nil, "deploy the component when the components `NAME,...` are ready")
	flags.StringVar(&dir, "dir", ".", "`FOLDER` of the operator")
	return cmd
}

func (p *program) component(ctx context.Context, dir, component, kind string, after []string) error {
	if err := name.Component(component); err != nil {
		return usage(err)
	}
	opened, err := project.Open(dir)
	if err != nil {
		return usage(err)
	}
	controller, err := chosen(opened, kind)
	if err != nil {
		return usage(err)
	}
	there := controller.Components()
	if err := checkAfter(component, after, there); err != nil {
		return usage(err)
	}
	values := componentValues(opened, controller, component)
	files, err := project.Render(project.Component, values)
	if err != nil {
		return err
	}
	add, err := p.addition(opened)
	if err != nil {
		return usage(err)
	}
	setup := controller.Name(opened.Root)
	if slices.Contains(there, component) {
		add.report(setup+": the component "+component, project.Same)
		return add.tell(files...)
	}
	if file := name.File(component) + ".go"; controller.Folder.Has(file) && !controller.Folder.Declares(values.Type) {
		return usage(fmt.Errorf("component %q: %s/%s exists, but has no type %s: use another name, or remove that file",
			component, values.Folder, file, values.Type))
	}
	if err := add.keep(files...); err != nil {
		return err
	}
	if err := add.remember(func(r *record.Record) { r.AddComponent(values, files) }); err != nil {
		return err
	}
	if err := add.rules(project.ComponentRules()); err != nil {
		return err
	}
	line := controller.Line(component, values.Type, after)
	err = add.edit(setup, line, func([]byte) ([]byte, bool, error) {
		text, err := controller.Use(line)
		return text, err == nil, err
	})
	if err == nil {
		err = p.tidy(ctx, opened)
	}
	add.end()
	if err == nil && add.has(values.Folder+"/testdata") {
		p.say("\nThe samples render more now. To update testdata, run: make golden")
	}
	return err
}

// chosen returns the controller of a kind, or the only controller if kind is empty.
func chosen(p *project.Project, kind string) (source.Controller, error) {
	all := p.Controllers()
	if len(all) == 0 {
		return source.Controller{}, fmt.Errorf("%s: has no controller, which is a type with a method Setup(context.Context, *reconcile.Session): run 'operkit add kind'", p.Root)
	}
	meant := slices.DeleteFunc(slices.Clone(all), func(c source.Controller) bool { return kind != "" && !c.For(kind) })
	if len(meant) == 1 {
		return meant[0], nil
	}
	var kinds []string
	for _, c := range all {
		kinds = append(kinds, fmt.Sprintf("%s (%s)", c.Kind(), c.Name(p.Root)))
	}
	list := strings.Join(kinds, ", ")
	if kind == "" {
		return source.Controller{}, fmt.Errorf("--kind: is missing: the operator has controllers of %s", list)
	}
	return source.Controller{}, fmt.Errorf("--kind %s: the operator has controllers of %s", kind, list)
}

func checkAfter(component string, after, there []string) error {
	for _, upstream := range after {
		if upstream == component || !slices.Contains(there, upstream) {
			return fmt.Errorf("--after %s: choose from the other components of the controller: %s", upstream, strings.Join(there, ", "))
		}
	}
	return nil
}

// componentValues chooses names for the parts of a component that the controller's package doesn't use yet. It ignores
// the component's own files, which may exist.
func componentValues(p *project.Project, c source.Controller, component string) project.Values {
	file := name.File(component)
	others := c.Folder.Without(file+".go", file+"_test.go")
	return project.Values{
		Component: component, Type: name.Type(component, others.Uses), Test: name.Test(component, others.Declares),
		Folder: p.Relative(c.Folder.Path), Package: c.Folder.Name(), Labels: others.Function("labels", 2),
	}
}
