package snapshot

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"golang.org/x/mod/modfile"
)

// Published is what others have to know of a published version of a module: how it is required, and the lines of go.sum.
type Published struct {
	Version     string
	Sum, ModSum string
}

// Publish gives the files as a published version holds them. siblings are the published modules of the same repository
// by their paths; all that go.mod requires of the repository must be among them. For those in needed, whose packages the
// module or its neighbours import, go.sum has the sums of their contents. f is not changed.
func (f Files) Publish(dir string, siblings map[string]Published, needed map[string]bool, ours func(modulePath string) bool) (Files, error) {
	name := path.Join(dir, "go.mod")
	file, err := modfile.Parse(name, f["go.mod"], nil)
	if err != nil {
		return nil, err
	}
	published := maps.Clone(f)
	lines := newSums(f["go.sum"], ours)
	for _, require := range slices.Clone(file.Require) {
		if !ours(require.Mod.Path) {
			continue
		}
		sibling, known := siblings[require.Mod.Path]
		if !known {
			return nil, fmt.Errorf("%s: requires %s, of which there is no version", name, require.Mod.Path)
		}
		if err := file.AddRequire(require.Mod.Path, sibling.Version); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		lines.add(require.Mod.Path, sibling.Version+"/go.mod", sibling.ModSum)
	}
	for path := range needed {
		if sibling, known := siblings[path]; known {
			lines.add(path, sibling.Version, sibling.Sum)
			lines.add(path, sibling.Version+"/go.mod", sibling.ModSum)
		}
	}
	if err := dropReplaces(file, name, ours); err != nil {
		return nil, err
	}
	file.Cleanup()
	if published["go.mod"], err = file.Format(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if _, has := f["go.sum"]; has || len(lines) > 0 {
		published["go.sum"] = lines.format()
	}
	return published, nil
}

// dropReplaces takes out the lines that replace a sibling. Lines that replace others with a version stay: they are for
// whoever builds the module in its own folder. A folder in such a line is one that nobody else has.
func dropReplaces(file *modfile.File, name string, ours func(string) bool) error {
	for _, replace := range slices.Clone(file.Replace) {
		if ours(replace.Old.Path) {
			if err := file.DropReplace(replace.Old.Path, replace.Old.Version); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			continue
		}
		if replace.New.Version == "" {
			return fmt.Errorf("%s: replaces %s by the folder %s, which nobody has who fetches the module", name, replace.Old.Path, replace.New.Path)
		}
	}
	return nil
}
