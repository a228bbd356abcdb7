package command

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"

	"github.com/operkit/operkit/tools/operkit/internal/name"
	"github.com/operkit/operkit/tools/operkit/internal/project"
	"github.com/operkit/operkit/tools/operkit/internal/source"
	"github.com/spf13/cobra"
)

const versionHelp = `version adds a version to a kind: it copies the Go types of an existing version
into the folder of the new one, and adds the conversion between both, as
'operkit add conversion' describes it. Then it runs 'go generate', so that the
definition has all versions.

The version that the controller uses stays the one that the API server stores;
the command marks it by +kubebuilder:storageversion. So the operator reads its
resources without a conversion, and an older release of the operator can read
what is stored. Change both when the controller has moved to the new version.

Existing files aren't changed, so you can run the command again. If it doesn't
find the place for a line, it prints the line.`

const versionExamples = `  operkit add version Guestbook v2
  operkit add version Guestbook v2beta1 --from v1`

func (p *program) addVersion() *cobra.Command {
	var f versionFlags
	cmd := &cobra.Command{
		Use:                   "version KIND VERSION [flags]",
		Short:                 "Add a version to a kind, with its conversion",
		Long:                  versionHelp,
		Example:               versionExamples,
		DisableFlagsInUseLine: true,
		Args:                  two("KIND and VERSION, such as Guestbook v2"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.newVersion(cmd.Context(), args[0], args[1], f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.from, "from", "", "`VERSION` whose types are copied (default the one that the controller uses)")
	flags.StringVar(&f.group, "group", "", "`GROUP` of the kind; needed if several groups have it")
	flags.StringVar(&f.dir, "dir", ".", "`FOLDER` of the operator")
	flags.BoolVar(&f.noGenerate, "no-generate", false, "only write files, and don't run 'go generate'")
	return cmd
}

func (p *program) newVersion(ctx context.Context, kind, version string, f versionFlags) error {
	for _, err := range []error{name.Kind(kind), name.Version(version)} {
		if err != nil {
			return usage(err)
		}
	}
	opened, err := project.Open(f.dir)
	if err != nil {
		return usage(err)
	}
	t, err := p.target(opened, kind, f.group)
	if err != nil {
		return usage(err)
	}
	if _, exists := t.version(version); exists {
		if len(t.versions) == 1 {
			return usage(fmt.Errorf("version %s: %s has it already, and no other: name a new one, such as %s", version, kind, name.NextVersion(version)))
		}
		return p.convert(ctx, opened, t, nil, f)
	}
	if f.from == "" {
		f.from = t.values.Version
	}
	from, exists := t.version(f.from)
	if !exists {
		return usage(fmt.Errorf("--from %s: %s has the versions %s", f.from, kind, listed(t.names())))
	}
	types, to, err := t.copies(opened, from, version)
	if err != nil {
		return usage(err)
	}
	t.versions = append(t.versions, to)
	return p.convert(ctx, opened, t, types, f)
}

// copies returns the files with the types of a new version, copied from another one.
func (t target) copies(opened *project.Project, from project.API, version string) (files []project.File, to project.API, err error) {
	kind := t.values.Kind
	to = project.API{Folder: opened.APIFolder(t.values.Group, version), Group: t.values.Group, Version: version}
	folder := opened.Folder(to.Folder)
	pkg := folder.Name()
	if pkg == "" {
		pkg = version
	}
	originals, err := opened.Folder(from.Folder).FilesOf(kind)
	if err != nil {
		return nil, to, err
	}
	versioned := false
	for _, original := range originals {
		text, err := original.InVersion(from.Version, version, pkg)
		if err != nil {
			return nil, to, err
		}
		versioned = versioned || bytes.Contains(text, []byte(strconv.Quote(version)))
		files = append(files, project.File{Path: path.Join(to.Folder, original.Base()), Text: text})
	}
	if !versioned {
		return nil, to, fmt.Errorf("kind %s: %s has no text %q in the value of %sKind, which the copy would need to have as %q: write it as schema.GroupVersionKind{Group: %q, Version: %q, Kind: %q}",
			kind, from.Folder, from.Version, kind, version, t.values.Group, from.Version, kind)
	}
	if err := checkCopies(opened, t, folder, files); err != nil {
		return nil, to, err
	}
	if len(folder.Files) > 0 {
		return files, to, nil
	}
	values := t.values
	values.Version, values.API = to.Version, to.Folder
	rendered, err := project.Render(project.Kind, values)
	i := slices.IndexFunc(rendered, func(file project.File) bool { return file.Path == to.Folder+"/doc.go" })
	if err == nil && i >= 0 && !slices.ContainsFunc(files, func(file project.File) bool { return file.Path == rendered[i].Path }) {
		files = append([]project.File{rendered[i]}, files...)
	}
	return files, to, err
}

// checkCopies returns an error if the copies don't fit to what their folder has.
func checkCopies(opened *project.Project, t target, folder source.Folder, files []project.File) error {
	for _, file := range files {
		parsed, err := source.Parse(file.Path, file.Text)
		if err != nil {
			return err
		}
		base := path.Base(file.Path)
		if folder.Has(base) && slices.Contains(parsed.Declared(), t.values.Kind) {
			return fmt.Errorf("kind %s: %s exists, but declares no %s: rename that file", t.values.Kind, file.Path, t.values.Kind)
		}
		for _, taken := range parsed.Declared() {
			if other := folder.Without(base).Declaring(taken); other != nil {
				return fmt.Errorf("kind %s: %s declares %s already, which the copy of %s declares, too: rename one of them",
					t.values.Kind, opened.Relative(other.Path), taken, base)
			}
		}
	}
	return nil
}
