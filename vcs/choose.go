package vcs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
)

// chooser says which references are kept.
type chooser struct {
	tags, branches []expression
	as             TagsAs
}

func newChooser(o SetupOptions) (*chooser, error) {
	c := &chooser{as: cmp.Or(o.TagsAs, AsBranches)}
	if c.as != AsBranches && c.as != AsTags {
		return nil, fmt.Errorf("tags as %q: use %s or %s", c.as, AsBranches, AsTags)
	}
	tags := o.Tags
	if tags == nil {
		tags = []string{DefaultTags}
	}
	if len(tags)+len(o.Branches) == 0 {
		return nil, errors.New("there is no expression, neither for tags nor for branches: nothing would be kept")
	}
	var err error
	if c.tags, err = expressions("tag", tags, o.Prefix); err != nil {
		return nil, err
	}
	c.branches, err = expressions("branch", o.Branches, o.Prefix)
	return c, err
}

// noExpression is why most references aren't kept.
const noExpression = "no expression matches its name"

// choose sorts the tags and branches of a repository into those that are kept and those that aren't. Of a tag and a branch of one name the tag
// is (spec: vcs 26).
func (c *chooser) choose(ctx context.Context, source *Repository) (report Report, err error) {
	refs, err := source.Refs(ctx)
	if err != nil {
		return report, err
	}
	taken := taken{}
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
			taken.take(full)
			report.Kept = append(report.Kept, Kept{Ref: ref, Name: ref.Name, Full: full})
		}
	}
	return report, nil
}

// reason is why a reference isn't kept, empty if it is. One that can't be read is an error: a version may not get lost.
func (c *chooser) reason(source *Repository, ref Ref, taken taken) (string, error) {
	expressions := c.branches
	if ref.Kind == Tag {
		expressions = c.tags
	}
	if !matches(expressions, ref.Name) {
		return noExpression, nil
	}
	full := c.full(ref)
	if err := checkRevision(full); err != nil {
		return "its name can't be that of a branch: " + err.Error(), nil //nolint:nilerr // it is the reason
	}
	if ref.Commit == "" {
		kind, err := source.kindOf(ref)
		if err != nil {
			return "", fmt.Errorf("%s: %w", ref.Full, err)
		}
		return fmt.Sprintf("it is of a %s and of no commit", kind), nil
	}
	return taken.reason(full), nil
}

// full is what a reference is called in the result.
func (c *chooser) full(ref Ref) string {
	if ref.Kind == Tag && c.as == AsTags {
		return "refs/tags/" + ref.Name
	}
	return "refs/heads/" + ref.Name
}

// taken are the full names of what is kept, true, and of the folders that these are in, false.
type taken map[string]bool

func (t taken) take(full string) {
	t[full] = true
	for at := strings.LastIndexByte(full, '/'); at > 0; at = strings.LastIndexByte(full[:at], '/') {
		t[full[:at]] = false
	}
}

// reason is why a name can't be there beside those that are: a/b can't be where a is.
func (t taken) reason(full string) string {
	if isName, is := t[full]; isName {
		return "there is a tag of that name"
	} else if is {
		return "there are tags whose names begin with its own and a slash"
	}
	for at := strings.LastIndexByte(full, '/'); at > 0; at = strings.LastIndexByte(full[:at], '/') {
		if t[full[:at]] {
			return fmt.Sprintf("there is a tag %q, below which no other name can be", strings.TrimPrefix(full[:at], "refs/heads/"))
		}
	}
	return ""
}
