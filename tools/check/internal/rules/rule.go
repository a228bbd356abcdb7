package rules

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Rule is the number of a rule: that of its topic's list, sometimes with a letter.
type Rule struct {
	Topic  string // as in "dag"
	Number int
	Letter string
}

// String returns the rule as RULES.md and the names of tests have it: "dag 14" or "status 25c".
func (r Rule) String() string { return fmt.Sprintf("%s %d%s", r.Topic, r.Number, r.Letter) }

func compare(a, b Rule) int {
	return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Number, b.Number), strings.Compare(a.Letter, b.Letter))
}

var (
	// named finds a topic and its first number. Letters and digits around them would make another word of it, as in
	// "endag 14" or "dag 14th".
	named = regexp.MustCompile(`(?:^|[^A-Za-z0-9])([a-z]+)[_ ]([0-9]+[a-z]?)`)
	// more is the rest of a list of numbers, which a colon, another topic with its number or the end of the name has to
	// follow.
	more = regexp.MustCompile(`^((?:,[_ ]?[0-9]+[a-z]?)+)(?:$|[:/]|,[_ ]?[a-z]+[_ ][0-9])`)
	// number is one of a list.
	number = regexp.MustCompile(`([0-9]+)([a-z]?)`)
)

// Named returns the rules that the name of a test or subtest carries, in the order of the name.
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
			if n, err := strconv.Atoi(parts[1]); err == nil {
				found = append(found, Rule{Topic: topic, Number: n, Letter: parts[2]})
			}
		}
	}
	return found
}

func isLetterOrDigit(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }
