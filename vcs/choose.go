package vcs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// chooser decides which references are kept.
type chooser struct {
	tags, branches []expression
	as             TagsAs
}

func newChooser(o SetupOptions) (*chooser, error) {
	c := &chooser{as: cmp.Or(o.TagsAs, AsBranches)}
	if c.as != AsBranches && c.as != AsTags {
		return nil, fmt.Errorf("TagsAs %q: use %s or %s", c.as, AsBranches, AsTags)
	}
	tags := o.Tags
	if tags == nil {
		tags = []string{DefaultTags}
	}
	if len(tags)+len(o.Branches) == 0 {
		return nil, errors.New("there are no expressions for tags or branches: nothing would be kept")
	}
	var err error
	if c.tags, err = expressions("tag", tags, o.Prefix); err != nil {
		return nil, err
	}
	c.branches, err = expressions("branch", o.Branches, o.Prefix)
	return c, err
}

// noExpression is the reason why most references aren't kept.
const noExpression = "no expression matches its name"

// choose reports which tags and branches of a repository are kept, and which are skipped. If a tag and a branch have
// the same name, the tag is kept.
func (c *chooser) choose(ctx context.Context, source *Repository) (report Report, err error) {
	refs, err := source.Refs(ctx)
	if err != nil {
		return report, err
	}
	taken := nameSet{}
	for _, kind := range []Kind{Tag, Branch} {
		for _, ref := range refs {
			if ref.Kind != kind {
				continue
			}
			reason, err := c.reason(source, ref, taken)
			if err != nil {
				return report, err
			}
			if reason != "" {
				report.Skipped = append(report.Skipped, Skipped{ref, reason})
				continue
			}
			full := c.full(ref)
			taken.add(full)
			report.Kept = append(report.Kept, Kept{Ref: ref, Name: ref.Name, Full: full})
		}
	}
	return report, nil
}

// reason returns the reason why a reference is skipped, empty if it is kept. If a reference matches but can't be read,
// it returns an error, so that no version gets lost.
func (c *chooser) reason(source *Repository, ref Ref, taken nameSet) (string, error) {
	expressions := c.branches
	if ref.Kind == Tag {
		expressions = c.tags
	}
	if !matches(expressions, ref.Name) {
		return noExpression, nil
	}
	full := c.full(ref)
	if err := checkRevision(full); err != nil {
		return "its name can't be the name of a branch: " + err.Error(), nil //nolint:nilerr // it is the reason
	}
	if ref.Commit == "" {
		hash, found, err := source.reference(ref.Full)
		if err == nil && !found {
			err = errUnknown
		}
		if err == nil {
			_, err = source.peel(hash)
		}
		var other *noCommitError
		if !errors.As(err, &other) {
			return "", fmt.Errorf("%s: %w", ref.Full, cmp.Or(err, errUnknown))
		}
		return fmt.Sprintf("it points to a %s and not to a commit", other.kind), nil
	}
	return taken.reason(full), nil
}

// full returns the full name of a reference in the result.
func (c *chooser) full(ref Ref) string {
	if ref.Kind == Tag && c.as == AsTags {
		return "refs/tags/" + ref.Name
	}
	return "refs/heads/" + ref.Name
}

// nameSet maps the full name of each kept reference to true, and each folder that contains such a name to false.
type nameSet map[string]bool

func (n nameSet) add(full string) {
	n[full] = true
	for at := strings.LastIndexByte(full, '/'); at > 0; at = strings.LastIndexByte(full[:at], '/') {
		n[full[:at]] = false
	}
}

// reason returns the reason why a name can't be added, empty if it can be. Names such as a and a/b can't both exist.
func (n nameSet) reason(full string) string {
	if isName, is := n[full]; isName {
		return "a tag of that name is kept"
	} else if is {
		return fmt.Sprintf("kept tags have names that begin with %q", strings.TrimPrefix(full, "refs/heads/")+"/")
	}
	for at := strings.LastIndexByte(full, '/'); at > 0; at = strings.LastIndexByte(full[:at], '/') {
		if n[full[:at]] {
			return fmt.Sprintf("the tag %q is kept, and no other name can be below it", strings.TrimPrefix(full[:at], "refs/heads/"))
		}
	}
	return ""
}

// expression is a regular expression for names.
type expression struct {
	text string
	// whole matches the names to keep. part matches a part of a name, in upper or lower case, for suggestions.
	whole, part *regexp.Regexp
}

// expressions compiles texts. They match a whole name, or with prefix the beginning of a name.
func expressions(what string, texts []string, prefix bool) (all []expression, err error) {
	for i, text := range texts {
		// An empty expression, such as the value of an unset variable, would keep nothing, or everything with Prefix.
		if strings.TrimSpace(text) == "" {
			return nil, fmt.Errorf("%s expression %d is empty", what, i+1)
		}
		// The parsed form completes an unfinished text, such as a \Q without \E.
		parsed, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			return nil, fmt.Errorf("%s expression %d, %q: %w", what, i+1, text, positioned(text, err))
		}
		end := `\z`
		if prefix {
			end = ""
		}
		one := expression{text: text}
		if one.whole, err = regexp.Compile(`\A(?:` + parsed.String() + `)` + end); err == nil {
			one.part, err = regexp.Compile(`(?i:` + parsed.String() + `)`)
		}
		if err != nil {
			return nil, fmt.Errorf("%s expression %d, %q: %w", what, i+1, text, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// positioned adds the position in the expression to an error.
func positioned(text string, err error) error {
	var mistake *syntax.Error
	if !errors.As(err, &mistake) {
		return err
	}
	at := strings.LastIndex(text, mistake.Expr)
	if mistake.Expr == text || mistake.Expr == "" || at < 0 {
		return errors.New(mistake.Code.String())
	}
	return fmt.Errorf("%s: %q, at character %d", mistake.Code, mistake.Expr, utf8.RuneCountInString(text[:at])+1)
}

func matches(expressions []expression, name string) bool {
	return slices.ContainsFunc(expressions, func(one expression) bool { return one.whole.MatchString(name) })
}

// size returns the total size of the packs and loose objects of a repository, in bytes.
func (r *Repository) size() (total int64, err error) {
	err = r.walkObjects(func(folder, at string, e fs.DirEntry) error {
		if len(folder) == 2 || folder == "pack" && path.Ext(at) == ".pack" {
			if info, err := e.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return total, err
}

// walkObjects calls visit for each file that may hold objects, with the name of its folder. It leaves out other folders,
// such as the one in which git keeps the objects of a push that isn't complete. Folders may vanish, because git may repack
// the repository.
func (r *Repository) walkObjects(visit func(folder, at string, e fs.DirEntry) error) error {
	return fs.WalkDir(r.store.root.FS(), "objects", func(at string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && at != "objects" {
			return nil
		}
		name := path.Base(at)
		if e != nil && e.IsDir() && at != "objects" && (path.Dir(at) != "objects" || len(name) != 2 && name != "pack") {
			return fs.SkipDir
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		return visit(path.Base(path.Dir(at)), at, e)
	})
}
