package command

import (
	"context"
	"fmt"
	"go/format"
	"path"
	"slices"

	"github.com/operkit/operkit/tools/operkit/internal/convert"
	"github.com/operkit/operkit/tools/operkit/internal/name"
	"github.com/operkit/operkit/tools/operkit/internal/project"
	"github.com/operkit/operkit/tools/operkit/internal/source"
	"github.com/spf13/cobra"
)

const conversionHelp = `conversion adds functions that convert a kind between its versions, for the API
server. It is for a kind that has several versions already; 'operkit add
version' adds a version with its conversion.

One version is the hub: each other version has a function to the hub and one
from it, which copy all fields that both versions have with the same name and
an equal type, and have a comment for each other field. The hub is the version
that Kubernetes prefers, such as v2 of v1 and v2: so the functions of an old
version are deleted with that version. The hub stays when versions are added.

The command also adds a test, the line op.Convert(...) in main.go, and what
conversions need when the operator is installed: a Service, rights, a port of
the Deployment, and a patch of the definition, by which the API server refuses
what it can't convert yet until the operator has run. Existing files aren't changed, so you can run the command
again. If it doesn't find the place for a line, it prints the line.`

const conversionExamples = `  operkit add conversion Guestbook`

// versionFlags are the settings of the commands add version and add conversion.
type versionFlags struct {
	group, from, dir string
	noGenerate       bool
}

func (p *program) addConversion() *cobra.Command {
	var f versionFlags
	cmd := &cobra.Command{
		Use:                   "conversion KIND [flags]",
		SuggestFor:            []string{"convert", "hub", "spoke"},
		Short:                 "Add functions that convert a kind between its versions",
		Long:                  conversionHelp,
		Example:               conversionExamples,
		DisableFlagsInUseLine: true,
		Args:                  one("KIND, such as Guestbook"),
		RunE:                  func(cmd *cobra.Command, args []string) error { return p.conversion(cmd.Context(), args[0], f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.group, "group", "", "`GROUP` of the kind; needed if several groups have it")
	flags.StringVar(&f.dir, "dir", ".", "`FOLDER` of the operator")
	flags.BoolVar(&f.noGenerate, "no-generate", false, "only write files, and don't run 'go generate'")
	return cmd
}

func (p *program) conversion(ctx context.Context, kind string, f versionFlags) error {
	if err := name.Kind(kind); err != nil {
		return usage(err)
	}
	opened, err := project.Open(f.dir)
	if err != nil {
		return usage(err)
	}
	t, err := p.target(opened, kind, f.group)
	if err != nil {
		return usage(err)
	}
	if len(t.versions) == 1 {
		return usage(fmt.Errorf("kind %s: %s is its only version: add another one by 'operkit add version %s %s'",
			kind, t.versions[0].Version, kind, name.NextVersion(t.versions[0].Version)))
	}
	return p.convert(ctx, opened, t, nil, f)
}

// conversionPlan is what has to be written so that a kind is converted.
type conversionPlan struct {
	hub project.API
	// files are new, and added are the versions that an existing function lacks.
	files     []project.File
	converter source.Converter
	added     []project.API
}

// plan returns what has to be written. folder returns the package with a version's types.
func (t target) plan(opened *project.Project, folder func(project.API) source.Folder) (plan conversionPlan, err error) {
	values := t.values
	spokes := slices.Clone(t.versions)
	converter, exists := opened.Folder(values.Folder).Converter(values.Kind)
	hub := name.NewestVersion(t.names()...)
	if exists {
		for _, api := range t.versions {
			if values.Module+"/"+api.Folder == converter.Hub() {
				hub = api.Version
			}
		}
	}
	plan.hub, _ = t.version(hub)
	values.Version, values.API, values.Name = plan.hub.Version, plan.hub.Folder, t.operator
	spokes = slices.DeleteFunc(spokes, func(api project.API) bool {
		return api.Version == hub || exists && converter.Converts(values.Module+"/"+api.Folder)
	})
	for _, api := range spokes {
		values.Spokes = append(values.Spokes, project.Spoke{Version: api.Version, API: api.Folder})
		file, err := t.functions(api, plan.hub, folder)
		if err != nil {
			return plan, err
		}
		plan.files = append(plan.files, file)
	}
	if exists {
		plan.converter, plan.added = converter, spokes
		return plan, nil
	}
	more, err := project.Render(project.Conversion, values)
	plan.files = append(more, plan.files...)
	return plan, err
}

// functions returns the file with the functions that convert a version to the hub and back.
func (t target) functions(api, hub project.API, folder func(project.API) source.Folder) (project.File, error) {
	v := t.values
	text := fmt.Sprintf("package %s\n\nimport (\n\t%s %q\n\t%s %q\n)\n\n", v.Package,
		api.Version, v.Module+"/"+api.Folder, hub.Version, v.Module+"/"+hub.Folder) +
		convert.Pair(v.Kind, convert.Side{Package: api.Version, Folder: folder(api)}, convert.Side{Package: hub.Version, Folder: folder(hub)})
	formatted, err := format.Source([]byte(text))
	if err != nil {
		return project.File{}, fmt.Errorf("conversion of %s from %s: %w", v.Kind, api.Version, err)
	}
	return project.File{Path: path.Join(v.Folder, "conversion_"+api.Version+".go"), Text: formatted}, nil
}

// convert writes new Go types, the conversion of a kind, and what it needs.
func (p *program) convert(ctx context.Context, opened *project.Project, t target, types []project.File, f versionFlags) error {
	folder, err := foldersWith(opened, types)
	if err != nil {
		return err
	}
	plan, err := t.plan(opened, folder)
	if err != nil {
		return err
	}
	if err := checkFree(opened, t, plan.files, "Conversion"); err != nil {
		return usage(err)
	}
	add, err := p.addition(opened)
	if err != nil {
		return usage(err)
	}
	if err := add.keep(slices.Concat(types, plan.files)...); err != nil {
		return err
	}
	if err := add.versions(t); err != nil {
		return err
	}
	if err := add.convert(t, plan); err != nil {
		return err
	}
	add.end()
	if err := p.generate(ctx, opened.Root, plan.hub.Folder, f.noGenerate || !add.changed); err != nil {
		return err
	}
	if !add.changed {
		return nil
	}
	p.say("\nNext:\n  1. Change the types in %s, and what the comments in\n     %s/conversion_*.go say.\n"+
		"  2. make generate test\n"+
		"%s stays the version that is stored, and that the controller uses.", plan.hub.Folder, t.values.Folder, t.values.Version)
	return nil
}

// foldersWith returns a function that returns the package with a version's types, as it will be with new files.
func foldersWith(opened *project.Project, types []project.File) (func(project.API) source.Folder, error) {
	added := map[string][]*source.File{}
	for _, file := range types {
		parsed, err := source.Parse(file.Path, file.Text)
		if err != nil {
			return nil, err
		}
		added[path.Dir(file.Path)] = append(added[path.Dir(file.Path)], parsed)
	}
	return func(api project.API) source.Folder { return opened.Folder(api.Folder).With(added[api.Folder]...) }, nil
}

// versions makes one version the stored one, and definitions of all versions.
func (a *addition) versions(t target) error {
	kind, stored := t.values.Kind, false
	for _, api := range t.versions {
		stored = stored || a.project.Folder(api.Folder).Stored(kind)
	}
	if file := a.project.Folder(t.values.API).Declaring(kind); !stored && file != nil {
		byHand := "// +kubebuilder:storageversion, in the comment of the type " + kind
		err := a.editGo(file, byHand, func(file *source.File) ([]byte, bool, error) { return file.Store(kind) })
		if err != nil {
			return err
		}
	}
	for _, api := range t.versions {
		pattern := project.Values{API: api.Folder}.Pattern()
		for _, file := range a.project.Folder(api.Folder).Files {
			if !file.GeneratesAlone() {
				continue
			}
			err := a.editGo(file, "paths="+pattern, func(file *source.File) ([]byte, bool, error) { return file.GenerateFrom(pattern) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// editGo is edit for a Go file, which is parsed as it is now.
func (a *addition) editGo(file *source.File, byHand string, change func(file *source.File) (changed []byte, edited bool, err error)) error {
	return a.edit(a.project.Relative(file.Path), byHand, func(text []byte) ([]byte, bool, error) {
		parsed, err := source.Parse(file.Path, text)
		if err != nil {
			return nil, false, err
		}
		return change(parsed)
	})
}

// convert adds versions to an existing conversion, and the conversion to the program.
func (a *addition) convert(t target, plan conversionPlan) error {
	kind := t.values.Kind
	for _, api := range plan.added {
		spoke := project.Spoke{Version: api.Version, API: api.Folder}
		byHand := spoke.Add("converter", "conversion", kind, api.Version, plan.hub.Version)
		err := a.editGo(plan.converter.File, byHand, func(parsed *source.File) ([]byte, bool, error) {
			converter, exists := source.Folder{Files: []*source.File{parsed}}.Converter(kind)
			if !exists {
				return nil, false, source.ErrNoPlace
			}
			edited, err := converter.Add(t.values.Module+"/"+api.Folder, api.Version, func(name, conversion, version, hub string) string {
				return spoke.Add(name, conversion, kind, version, hub)
			})
			return edited, err == nil, err
		})
		if err != nil {
			return err
		}
	}
	function := "Conversion"
	if plan.converter.Function != "" {
		function = plan.converter.Function
	}
	line := source.Registration{Method: "Convert", Path: t.importPath(), Package: t.values.Package, Value: function + "()"}
	if registered(a.project, line) {
		a.report("the program's conversion of "+t.importPath(), project.Same)
		return nil
	}
	var patches []string
	if patch := "conversion/" + t.values.CRD() + ".yaml"; a.has("config/" + patch) {
		patches = append(patches, patch)
	}
	if err := a.serving(t.operator, patches...); err != nil {
		return err
	}
	return a.register(line)
}

// generate makes the deep copies and definitions of all versions.
func (p *program) generate(ctx context.Context, root, folder string, skip bool) error {
	generate := goCommand{"generate", "./" + folder}
	if skip {
		return nil
	}
	p.say("%s", generate)
	if err := generate.run(ctx, root, p.stderr); err != nil {
		return fmt.Errorf("%w\nThe files are written. Fix the problem, then run:\n  %s", err, inFolder(root, []goCommand{generate}))
	}
	return nil
}
