package vcs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// NoMatchError reports that no reference of the source is kept.
type NoMatchError struct {
	// Tags and Branches are the numbers of tags and branches in the source.
	Tags, Branches int
	// Near has up to ten references: those with names that are similar to the expressions, and those that match but
	// can't be kept, with the reason.
	Near []string
	// Shallow reports that the source is a shallow clone, which often has no tags.
	Shallow bool
}

// Error returns a text with the number of tags and branches, similar names, and what to do.
func (e *NoMatchError) Error() string {
	text := "the source has no tags and no branches"
	if e.Tags+e.Branches > 0 {
		text = fmt.Sprintf("no expression matches any of the %s and %s of the source", amount(e.Tags, "tag", "tags"), amount(e.Branches, "branch", "branches"))
		if len(e.Near) > 0 {
			text += ", such as " + strings.Join(e.Near, ", ")
		}
	}
	if e.Shallow {
		text += ": it is a shallow clone: fetch the tags with 'git fetch --tags'"
	}
	return text
}

func amount(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

const (
	// maxNear limits the names that are listed, maxCompared the names that are compared, and maxLetters the characters
	// of each name that are compared.
	maxNear     = 10
	maxCompared = 10_000
	maxLetters  = 64
)

// noMatch returns the error for a source that has no reference to keep.
func noMatch(source *Repository, c *chooser, skipped []Skipped) error {
	if len(skipped) == 0 {
		if _, found, err := source.reference("HEAD"); err == nil && !found {
			return errors.New("the source has no commits")
		}
	}
	e := &NoMatchError{}
	_, err := source.store.root.Stat("shallow")
	e.Shallow = err == nil
	var all []near
	for _, one := range skipped {
		if one.Ref.Kind == Tag {
			e.Tags++
		} else {
			e.Branches++
		}
		if len(all) < maxCompared {
			all = append(all, c.near(one))
		}
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.distance, b.distance)) })
	for _, one := range all[:min(len(all), maxNear)] {
		e.Near = append(e.Near, one.text)
	}
	return e
}

// near describes a reference that is almost kept. A lower rank is nearer, then a smaller edit distance.
type near struct {
	text           string
	rank, distance int
}

func (c *chooser) near(one Skipped) near {
	own, others := c.tags, c.branches
	if one.Ref.Kind == Branch {
		own, others = others, own
	}
	n := near{text: string(one.Ref.Kind) + " " + one.Ref.Name, rank: 3}
	n.distance = maxLetters
	for _, expression := range own {
		n.distance = min(n.distance, edits(expression.text, one.Ref.Name))
	}
	switch {
	case one.Reason != noExpression:
		n.rank, n.text = 0, n.text+" ("+one.Reason+")"
	case slices.ContainsFunc(own, func(e expression) bool { return e.part.MatchString(one.Ref.Name) }):
		n.rank = 1
	case matches(others, one.Ref.Name):
		n.rank, n.text = 2, n.text+" (an expression for the other kind matches it)"
	}
	return n
}

// edits returns the Levenshtein distance between an expression without its backslashes and a name.
func edits(expression, name string) int {
	from, to := letters(strings.ReplaceAll(expression, `\`, "")), letters(name)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j := range to {
			change := diagonal
			if from[i] != to[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}

func letters(text string) []rune {
	all := []rune(text)
	return all[:min(len(all), maxLetters)]
}
