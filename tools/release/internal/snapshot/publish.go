package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// Published has what other modules need of a published version: the version for go.mod, and the checksums for go.sum.
type Published struct {
	Version     string
	Sum, ModSum string
}

// Publish returns the files of a published version. siblings are the published modules of the same repository by path.
// It must contain all siblings that go.mod requires. needed are the siblings whose checksums go.sum needs, because the
// module or its dependencies import their packages. f isn't changed.
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
			return nil, fmt.Errorf("%s: requires %s, which has no version", name, require.Mod.Path)
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

// dropReplaces removes the lines that replace a sibling. Lines that replace another module by a version stay, for
// builds in the module's own folder. A line that replaces another module by a folder is an error, because only this
// repository has the folder.
func dropReplaces(file *modfile.File, name string, ours func(string) bool) error {
	for _, replace := range slices.Clone(file.Replace) {
		if ours(replace.Old.Path) {
			if err := file.DropReplace(replace.Old.Path, replace.Old.Version); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			continue
		}
		if replace.New.Version == "" {
			return fmt.Errorf("%s: replaces %s by the folder %s, which users of the module don't have", name, replace.Old.Path, replace.New.Path)
		}
	}
	return nil
}

// sums are the lines of a go.sum: the checksums of module versions. If a version ends with "/go.mod", it is the
// checksum of the go.mod file.
type sums map[module.Version][]string

// newSums reads a go.sum, without the lines about modules of the repository. Malformed lines are ignored.
func newSums(text []byte, ours func(modulePath string) bool) sums {
	s := sums{}
	for line := range bytes.Lines(text) {
		if fields := strings.Fields(string(line)); len(fields) == 3 && !ours(fields[0]) {
			s.add(fields[0], fields[1], fields[2])
		}
	}
	return s
}

func (s sums) add(path, version, sum string) {
	key := module.Version{Path: path, Version: version}
	if !slices.Contains(s[key], sum) {
		s[key] = append(s[key], sum)
	}
}

// format returns the lines in the go command's order.
func (s sums) format() []byte {
	keys := slices.Collect(maps.Keys(s))
	module.Sort(keys)
	var out bytes.Buffer
	for _, key := range keys {
		slices.Sort(s[key])
		for _, sum := range s[key] {
			fmt.Fprintf(&out, "%s %s %s\n", key.Path, key.Version, sum)
		}
	}
	return out.Bytes()
}

// Changed lists the files that differ between two states of a module and are a reason to release the module again. It
// ignores tests and their data. It also ignores the changes that a release itself makes: versions of siblings in go.mod
// and go.sum, and the lines that replace siblings.
func Changed(before, after Files, ours func(modulePath string) bool) ([]string, error) {
	all := maps.Clone(before)
	maps.Copy(all, after)
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if isTest(name) || bytes.Equal(before[name], after[name]) {
			continue
		}
		same := false
		var err error
		switch name {
		case "go.mod":
			same, err = sameRequirements(before[name], after[name], ours)
		case "go.sum":
			same = bytes.Equal(newSums(before[name], ours).format(), newSums(after[name], ours).format())
		}
		if err != nil {
			return nil, err
		}
		if !same {
			changed = append(changed, name)
		}
	}
	return changed, nil
}

func isTest(name string) bool {
	return strings.HasSuffix(name, "_test.go") || slices.Contains(strings.Split(name, "/"), "testdata")
}

func sameRequirements(before, after []byte, ours func(string) bool) (bool, error) {
	a, err := facts(before, ours)
	if err != nil {
		return false, err
	}
	b, err := facts(after, ours)
	return slices.Equal(a, b), err
}

// facts returns the contents of a go.mod as lines that don't depend on its layout, without the versions of siblings and
// the lines that replace them.
func facts(text []byte, ours func(string) bool) ([]string, error) {
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return nil, err
	}
	var problems []error
	for _, r := range slices.Clone(file.Require) {
		if ours(r.Mod.Path) {
			problems = append(problems, file.AddRequire(r.Mod.Path, "v0.0.0"))
		}
	}
	for _, r := range slices.Clone(file.Replace) {
		if ours(r.Old.Path) {
			problems = append(problems, file.DropReplace(r.Old.Path, r.Old.Version))
		}
	}
	file.Cleanup()
	var lines []string
	add := func(line *modfile.Line, verb ...string) {
		words := slices.Concat(verb, line.Token)
		for _, comment := range line.Suffix { // such as "// indirect"
			words = append(words, comment.Token)
		}
		lines = append(lines, strings.Join(words, " "))
	}
	for _, statement := range file.Syntax.Stmt {
		switch statement := statement.(type) {
		case *modfile.Line:
			add(statement)
		case *modfile.LineBlock:
			for _, line := range statement.Line {
				add(line, statement.Token...)
			}
		}
	}
	slices.Sort(lines)
	return lines, errors.Join(problems...)
}
