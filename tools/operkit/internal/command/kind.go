package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/operkit/internal/manifest"
	"github.com/operkit/operkit/tools/operkit/internal/name"
	"github.com/operkit/operkit/tools/operkit/internal/project"
	"github.com/operkit/operkit/tools/operkit/internal/record"
	"github.com/operkit/operkit/tools/operkit/internal/source"
	"github.com/spf13/cobra"
)

const kindHelp = `kind adds a kind to an operator: its Go types and definition, a controller with one component and
tests as 'operkit init' writes them, a sample resource, the rights that the controller needs, and the
line in main.go that adds the controller to the program. Then it runs 'go generate', which makes the
deep copies of the types.

The line goes after the last op.Control(...) of main.go, or before op.Main(). If main.go has neither,
the command doesn't change it, and prints the line for you to add. Existing files aren't changed
either, so you can run the command again.`

const kindExamples = `  operkit add kind Backup
  operkit add kind Disk --group storage.example.com --version v1alpha1`

// kindFlags are the settings of the command add kind.
type kindFlags struct {
	group, version, dir string
	empty, noGenerate   bool
}

func (p *program) addKind() *cobra.Command {
	var f kindFlags
	cmd := &cobra.Command{
		Use:                   "kind KIND [flags]",
		Short:                 "Add a kind with its controller",
		Long:                  kindHelp,
		Example:               kindExamples,
		DisableFlagsInUseLine: true,
		Args:                  one("KIND, such as Backup"),
		RunE:                  func(cmd *cobra.Command, args []string) error { return p.kind(cmd.Context(), args[0], f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.group, "group", "", "`GROUP` of the kind (default the group of the operator's kinds)")
	flags.StringVar(&f.version, "version", "", "`VERSION` of the kind (default the version of the group's other kinds, or v1)")
	flags.BoolVar(&f.empty, "empty", false, "write a kind without fields and a controller without components")
	flags.StringVar(&f.dir, "dir", ".", "`FOLDER` of the operator")
	flags.BoolVar(&f.noGenerate, "no-generate", false, "only write files, and don't run 'go generate'")
	return cmd
}

func (p *program) kind(ctx context.Context, kind string, f kindFlags) error {
	if err := name.Kind(kind); err != nil {
		return usage(err)
	}
	opened, err := project.Open(f.dir)
	if err != nil {
		return usage(err)
	}
	values, err := p.kindValues(opened, kind, f)
	if err != nil {
		return usage(err)
	}
	if err := checkKind(opened, values); err != nil {
		return usage(err)
	}
	files, err := project.Render(project.Kind, values)
	if err != nil {
		return err
	}
	add, err := p.addition(opened)
	if err != nil {
		return usage(err)
	}
	controller := opened.Module + "/internal/" + values.Package
	if controls(opened, controller) {
		add.report("the program's controller "+controller, project.Same)
		if err := add.tell(files...); err != nil {
			return err
		}
	} else if err := add.kind(values, files, controller); err != nil {
		return err
	}
	if err := p.deepCopies(ctx, opened.Root, values, f.noGenerate); err != nil || f.empty || f.noGenerate {
		return err
	}
	return p.tidy(ctx, opened)
}

// kindValues returns the values for the templates. If no flag sets a value, it is taken from the existing kinds.
func (p *program) kindValues(opened *project.Project, kind string, f kindFlags) (project.Values, error) {
	values := project.Values{Module: opened.Module, Kind: kind, Group: f.group, Version: f.version, Package: name.Package(kind), Empty: f.empty, Versions: p.versions}
	if opened.ControllerTools != "" {
		values.ControllerTools = opened.ControllerTools
	}
	if groups := opened.Groups(); values.Group == "" {
		if len(groups) != 1 {
			return values, fmt.Errorf("--group: is missing: the operator has the groups %s", listed(groups))
		}
		values.Group = groups[0]
	}
	if err := name.Group(values.Group); err != nil {
		return values, err
	}
	if versions := opened.Versions(values.Group); values.Version == "" && len(versions) == 1 {
		values.Version = versions[0]
	}
	if values.Version == "" {
		values.Version = "v1"
	}
	if err := name.Version(values.Version); err != nil {
		return values, err
	}
	values.API = opened.APIFolder(values.Group, values.Version)
	return values, nil
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// checkKind returns an error if something in the project conflicts with a kind.
func checkKind(p *project.Project, values project.Values) error {
	for _, api := range p.APIs() {
		if api.Group == values.Group && api.Version != values.Version && p.Folder(api.Folder).Declares(values.Kind) {
			return fmt.Errorf("kind %s: it exists in version %s: to add a version to it, run 'operkit add version %s %s'",
				values.Kind, api.Version, values.Kind, values.Version)
		}
	}
	types := values.Singular() + "_types.go"
	folder := p.Folder(values.API)
	others := folder.Without(types, "zz_generated.deepcopy.go")
	for _, taken := range []string{values.Kind, values.Kind + "Spec", values.Kind + "List", values.Kind + "Kind"} {
		if others.Declares(taken) {
			return fmt.Errorf("kind %s: %s declares %s already: use another name", values.Kind, values.API, taken)
		}
	}
	if folder.Has(types) && !folder.Declares(values.Kind) {
		return fmt.Errorf("kind %s: %s/%s exists, but has no type %s: use another name, or remove that file", values.Kind, values.API, types, values.Kind)
	}
	controller := p.Folder("internal/" + values.Package)
	if len(controller.Files) > 0 && !controller.Imports(p.Module+"/"+values.API) {
		return fmt.Errorf("kind %s: internal/%s is a package that doesn't import %s: use another name, or rename that package", values.Kind, values.Package, values.API)
	}
	return nil
}

// controls reports whether a program of the project adds the controller of the package with this import path.
func controls(p *project.Project, controller string) bool {
	return slices.ContainsFunc(p.Folders, func(folder source.Folder) bool {
		return slices.ContainsFunc(folder.Files, func(file *source.File) bool { return file.Controls(controller) })
	})
}

// kind writes the files of a kind, and adds its controller to the program.
func (a *addition) kind(values project.Values, files []project.File, controller string) error {
	api := a.project.Folder(values.API)
	generated := values.API + "/zz_generated.deepcopy.go"
	files = slices.DeleteFunc(files, func(file project.File) bool {
		// The package has these files already: they are for all of its kinds.
		return len(api.Files) > 0 && (file.Path == generated || file.Path == values.API+"/doc.go")
	})
	if err := a.keep(files...); err != nil {
		return err
	}
	if err := a.remember(func(r *record.Record) { r.AddKind(values, files) }); err != nil {
		return err
	}
	if err := a.rules(project.KindRules(values)); err != nil {
		return err
	}
	definition := "crd/" + values.CRD() + ".yaml"
	err := a.edit(project.KustomizationFile, "resources:\n  - "+definition, func(text []byte) ([]byte, bool, error) {
		return manifest.AddResource(text, definition)
	})
	if err != nil {
		return err
	}
	defer a.end()
	byHand := fmt.Sprintf("op.Control(%s.Controller{}), and import %q", values.Package, controller)
	for _, file := range a.project.Programs() {
		text, err := file.Control(controller, values.Package)
		if err != nil {
			continue
		}
		return a.edit(a.project.Relative(file.Path), byHand, func([]byte) ([]byte, bool, error) { return text, true, nil })
	}
	a.leave("main.go", byHand)
	return nil
}

// deepCopies generates the deep copies if a type lacks them.
func (p *program) deepCopies(ctx context.Context, root string, values project.Values, skip bool) error {
	opened, err := project.Open(root)
	if err != nil {
		return err
	}
	if opened.Folder(values.API).Method(values.Kind, "DeepCopyInto") {
		return nil
	}
	generate := goCommand{"generate", "./" + values.API}
	if skip {
		p.say("\nThe deep copies of %s are missing. To generate them, run: %s", values.Kind, inFolder(root, []goCommand{generate}))
		return nil
	}
	p.say("%s", generate)
	if err := generate.run(ctx, root, p.stderr); err != nil {
		return fmt.Errorf("%w\nThe files are written. Fix the problem, then run:\n  %s", err, inFolder(root, []goCommand{generate}))
	}
	return nil
}
