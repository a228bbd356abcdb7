package rules

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/operkit/operkit/tools/check/repository"
)

// FileName is the name of the files with rules, at the root of modules.
const FileName = "RULES.md"

// Place is a rule with its file and line.
type Place struct {
	Rule
	File     string
	Line     int
	Sentence string
}

// Read reads the rules of all modules. problems has a line for each place where a file is malformed.
func Read(r *repository.Repository) (places []Place, problems []string, err error) {
	for _, m := range r.Modules {
		name := m.Dir + "/" + FileName
		text, err := os.ReadFile(filepath.Join(r.Root, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		found, wrong := Parse(name, string(text))
		places, problems = append(places, found...), append(problems, wrong...)
	}
	return places, problems, nil
}

// citation matches references to rules of a specification that isn't in the repository.
var citation = regexp.MustCompile(`spec: [a-z-]+ [0-9]+`)

// cited returns a problem for each Go file, except tests, that has a match of citation. It also returns a problem for
// each file named rules.txt, because RULES.md has replaced these files.
func cited(ctx context.Context, r *repository.Repository) (problems []string, err error) {
	files, err := r.Files(ctx, "")
	for _, name := range files {
		if strings.HasSuffix(name, "/rules.txt") {
			problems = append(problems, fmt.Sprintf("%s: no program reads this file: write its rules into %s beside it", name, FileName))
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(r.Root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		if at := citation.FindIndex(text); at != nil {
			problems = append(problems, fmt.Sprintf("%s:%d: %q cites a document that isn't in the repository: remove the citation, or move it into the name of a test",
				name, 1+strings.Count(string(text[:at[0]]), "\n"), text[at[0]:at[1]]))
		}
	}
	return problems, err
}

var (
	item = regexp.MustCompile(`^[-*] `)
	rule = regexp.MustCompile(`^- \*\*([a-z]+) ([1-9][0-9]{0,3})([a-z]?)\*\*:(.*)$`)
)

// Parse reads the text of a RULES.md. Each list item is a rule. The indented lines below an item belong to it.
func Parse(name, text string) (places []Place, problems []string) {
	at, inside := 0, false
	for line := range strings.Lines(text) {
		at++
		line = strings.TrimRight(line, " \r\n")
		switch parts := rule.FindStringSubmatch(line); {
		case parts != nil:
			n, _ := strconv.Atoi(parts[2]) // it has at most four digits
			places = append(places, Place{Rule{parts[1], n, parts[3]}, name, at, strings.TrimSpace(parts[4])})
			inside = true
		case item.MatchString(line):
			problems = append(problems, fmt.Sprintf("%s:%d: the item is no rule: write it as '- **topic 12**: One sentence.'", name, at))
			inside = false
		case inside && strings.HasPrefix(line, " "):
			last := &places[len(places)-1]
			last.Sentence = strings.TrimSpace(last.Sentence + " " + strings.TrimSpace(line))
		default:
			inside = false
		}
	}
	return places, append(problems, doubled(places)...)
}

// doubled returns a problem for each rule that has no sentence, or that has the same number or sentence as a rule above
// it.
func doubled(places []Place) []string {
	var problems []string
	rules, sentences := map[Rule]int{}, map[string]int{}
	for _, p := range places {
		add := func(format string, args ...any) {
			problems = append(problems, fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.Rule, fmt.Sprintf(format, args...)))
		}
		if line, twice := rules[p.Rule]; twice {
			add("line %d has this number too: remove one of them or correct its number", line)
		}
		if line, twice := sentences[p.Sentence]; p.Sentence == "" {
			add("no sentence follows the number: write what we do")
		} else if twice {
			add("line %d has the same sentence: write a different one", line)
		}
		rules[p.Rule], sentences[p.Sentence] = p.Line, p.Line
	}
	return problems
}

// Rule identifies a rule: a topic, a number and sometimes a letter.
type Rule struct {
	Topic  string // as in "dag"
	Number int
	Letter string
}

// String returns the rule as it is written in RULES.md and in the names of tests: "dag 14" or "status 25c".
func (r Rule) String() string { return fmt.Sprintf("%s %d%s", r.Topic, r.Number, r.Letter) }

var (
	// named finds a topic and its first number. They must not be part of a longer word, as in "endag 14" or "dag 14th".
	named = regexp.MustCompile(`(?:^|[^A-Za-z0-9])([a-z]+)[_ ]([0-9]+[a-z]?)`)
	// more matches the rest of a list of numbers, which must be followed by a colon, another topic with its number, or
	// the end of the name.
	more = regexp.MustCompile(`^((?:,[_ ]?[0-9]+[a-z]?)+)(?:$|[:/]|,[_ ]?[a-z]+[_ ][0-9])`)
	// number matches one number of a list.
	number = regexp.MustCompile(`([0-9]+)([a-z]?)`)
)

// Named returns the rules that the name of a test or subtest contains, in their order.
func Named(test string) []Rule {
	var found []Rule
	for _, at := range named.FindAllStringSubmatchIndex(test, -1) {
		topic, rest := test[at[2]:at[3]], test[at[5]:]
		if rest != "" && isLetterOrDigit(rest[0]) {
			continue
		}
		list := test[at[4]:at[5]]
		if others := more.FindStringSubmatch(rest); others != nil {
			list += others[1]
		}
		for _, parts := range number.FindAllStringSubmatch(list, -1) {
			if n, err := strconv.Atoi(parts[1]); err == nil && n > 0 {
				found = append(found, Rule{Topic: topic, Number: n, Letter: parts[2]})
			}
		}
	}
	return found
}

func isLetterOrDigit(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }
