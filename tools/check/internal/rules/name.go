package rules

import (
	"regexp"
	"strconv"
)

var (
	// named finds a subject and its first number. Letters and digits around them would make another word of it, as in
	// "endag 14" or "dag 14th".
	named = regexp.MustCompile(`(?:^|[^A-Za-z0-9])([a-z]+)[_ ]([0-9]+)`)
	// more is the rest of a list of numbers, which a colon, another subject with its number or the end of the name has to
	// follow.
	more = regexp.MustCompile(`^((?:,[_ ]?[0-9]+)+)(?:$|[:/]|,[_ ]?[a-z]+[_ ][0-9])`)
	// digits is one number of a list.
	digits = regexp.MustCompile(`[0-9]+`)
)

// Named gives the rules that the name of a test or subtest says it proves, in the order of the name.
func Named(test string) []Rule {
	var found []Rule
	for _, at := range named.FindAllStringSubmatchIndex(test, -1) {
		subject, rest := test[at[2]:at[3]], test[at[5]:]
		if rest != "" && isLetter(rest[0]) {
			continue
		}
		numbers := []string{test[at[4]:at[5]]}
		if list := more.FindStringSubmatch(rest); list != nil {
			numbers = append(numbers, digits.FindAllString(list[1], -1)...)
		}
		for _, text := range numbers {
			if number, err := strconv.Atoi(text); err == nil {
				found = append(found, Rule{Subject: subject, Number: number})
			}
		}
	}
	return found
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
