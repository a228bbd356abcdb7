package vcs

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// chooser says which references are kept.
type chooser struct {
	tags, branches []*regexp.Regexp
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
	var err error
	if c.tags, err = expressions("tag", tags, o.Prefix); err != nil {
		return nil, err
	}
	c.branches, err = expressions("branch", o.Branches, o.Prefix)
	return c, err
}

// expressions compiles texts so that they match all of a name, or its beginning (spec: vcs 24, W13).
func expressions(what string, texts []string, prefix bool) (all []*regexp.Regexp, err error) {
	for i, text := range texts {
		if _, err := regexp.Compile(text); err != nil {
			return nil, fmt.Errorf("%s expression %d, %q: %w", what, i+1, text, err)
		}
		end := `\z`
		if prefix {
			end = ""
		}
		all = append(all, regexp.MustCompile(`\A(?:`+text+`)`+end))
	}
	return all, nil
}

// choose sorts references into those that are kept and those that aren't. Of a tag and a branch of one name the tag is (spec: vcs 26).
func (c *chooser) choose(refs []Ref) (report Report) {
	taken := map[string]bool{}
	skip := func(ref Ref, reason string) { report.Skipped = append(report.Skipped, Skipped{ref, reason}) }
	keep := func(ref Ref, expressions []*regexp.Regexp) {
		one := Kept{Ref: ref, Name: ref.Name}
		name := c.full(one)
		matches := slices.ContainsFunc(expressions, func(one *regexp.Regexp) bool { return one.MatchString(ref.Name) })
		switch {
		case !matches:
			skip(ref, "no expression matches its name")
		case ref.Commit == "":
			skip(ref, "it comes to no commit that can be read")
		case taken[name]:
			skip(ref, "there is a tag of that name")
		case checkRevision(name) != nil:
			skip(ref, "its name can't be that of a branch: "+checkRevision(name).Error())
		default:
			taken[name] = true
			report.Kept = append(report.Kept, one)
		}
	}
	for _, ref := range refs {
		if ref.Kind == Tag {
			keep(ref, c.tags)
		}
	}
	for _, ref := range refs {
		if ref.Kind == Branch {
			keep(ref, c.branches)
		}
	}
	return report
}

// full is the full name of what was kept in the result.
func (c *chooser) full(kept Kept) string {
	if kept.Ref.Kind == Tag && c.as == AsTags {
		return "refs/tags/" + kept.Name
	}
	return "refs/heads/" + kept.Name
}

// NoMatchError says that no reference is to be kept.
type NoMatchError struct {
	// Near are names that there are, no more than ten.
	Near []string
}

func newNoMatch(skipped []Skipped) *NoMatchError {
	e := &NoMatchError{}
	for _, one := range skipped[:min(len(skipped), 10)] {
		e.Near = append(e.Near, string(one.Ref.Kind)+" "+one.Ref.Name)
	}
	return e
}

func (e *NoMatchError) Error() string {
	if len(e.Near) == 0 {
		return "the source has no tags and no branches"
	}
	return "no expression matches anything: there are " + strings.Join(e.Near, ", ")
}
