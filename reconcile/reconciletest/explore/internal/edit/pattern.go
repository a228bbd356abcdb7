package edit

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// matching returns strings that may match a pattern. Assertions such as \b aren't observed, so check them.
func matching(pattern string) (found []string) {
	for _, repetitions := range []int{1, 2, 0, 8} {
		for variant := range 4 {
			text, can := generate(pattern, repetitions, variant)
			if can && !slices.Contains(found, text) {
				found = append(found, text)
			}
		}
	}
	return found
}

// generate walks through a pattern. What may be repeated is repeated as often as given, and variant decides between
// characters and alternatives.
func generate(pattern string, repetitions, variant int) (text string, can bool) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	g := generator{repetitions: repetitions, variant: variant}
	g.write(parsed)
	return g.text.String(), !g.failed
}

type generator struct {
	text                 strings.Builder
	repetitions, variant int
	// parts counts the parts of the pattern that were written.
	parts int
	// failed: nothing matches, or the text gets too long.
	failed bool
}

func (g *generator) write(re *syntax.Regexp) {
	g.parts++
	if g.text.Len() > 4*longestText || g.parts > 16*longestText { // a pattern may repeat what is empty
		g.failed = true
	}
	if g.failed {
		return
	}
	switch re.Op {
	case syntax.OpNoMatch:
		g.failed = true
	case syntax.OpLiteral:
		g.text.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		g.write1(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		g.write1([]rune{'!', '~'})
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			g.write(sub)
		}
	case syntax.OpAlternate:
		g.write(re.Sub[g.variant%len(re.Sub)])
	case syntax.OpStar:
		g.repeat(re.Sub[0], 0, -1)
	case syntax.OpPlus:
		g.repeat(re.Sub[0], 1, -1)
	case syntax.OpQuest:
		g.repeat(re.Sub[0], 0, 1)
	case syntax.OpRepeat:
		g.repeat(re.Sub[0], re.Min, re.Max)
	}
}

// repeat repeats a part of the pattern within its limits. most is -1 for no limit.
func (g *generator) repeat(part *syntax.Regexp, least, most int) {
	times := max(g.repetitions, least)
	if most >= 0 {
		times = min(times, most)
	}
	for n := 0; n < times && !g.failed; n++ {
		g.write(part)
	}
}

// preferred are the characters that a class is searched for first.
const preferred = "a1b2c3d4e5f6g7h8i9jklmnopqrstuvwxyz0ABCDEFGHIJKLMNOPQRSTUVWXYZ-_./:@ "

// write1 writes one character of a class, which has pairs of the first and the last character of a range.
func (g *generator) write1(class []rune) {
	var usable []rune
	for _, char := range preferred {
		for i := 0; i < len(class); i += 2 {
			if class[i] <= char && char <= class[i+1] {
				usable = append(usable, char)
			}
		}
	}
	for i := 0; i < len(class) && len(usable) == 0; i += 2 {
		if class[i] <= unicode.MaxRune {
			usable = append(usable, class[i])
		}
	}
	if len(usable) == 0 {
		g.failed = true
		return
	}
	g.text.WriteRune(usable[g.variant%len(usable)])
}
