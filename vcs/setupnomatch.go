package vcs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// NoMatchError says that no reference is to be kept.
type NoMatchError struct {
	// Tags and Branches are how many there are.
	Tags, Branches int
	// Near are those whose names are near to the expressions, or what is in the way of those that match, no more than ten.
	Near []string
	// Shallow tells that the source is a clone of a part of the history, which often has no tags.
	Shallow bool
}

// Error says what there is instead, and what to do.
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
	// mostNear is how many names are told, mostCompared how many are looked at, and mostLetters how much of each.
	mostNear     = 10
	mostCompared = 10_000
	mostLetters  = 64
)

// noMatch says why there is nothing to keep.
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
		if len(all) < mostCompared {
			all = append(all, c.near(one))
		}
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.distance, b.distance)) })
	for _, one := range all[:min(len(all), mostNear)] {
		e.Near = append(e.Near, one.text)
	}
	return e
}

// near is how near a reference is to being kept: by rank, then by how many letters are different.
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
	n.distance = mostLetters
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

// edits is how many letters have to be put in, taken out or changed to get from an expression, its backslashes left out, to a name (Levenshtein).
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
	return all[:min(len(all), mostLetters)]
}
