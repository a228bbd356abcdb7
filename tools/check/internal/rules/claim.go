package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Rule is one numbered rule of the specification.
type Rule struct {
	Subject string // the name of its page, as in "dag"
	Number  int
}

// String gives the rule as claims and names of tests have it: "dag 14".
func (r Rule) String() string { return fmt.Sprintf("%s %d", r.Subject, r.Number) }

func compare(a, b Rule) int {
	return cmp.Or(strings.Compare(a.Subject, b.Subject), cmp.Compare(a.Number, b.Number))
}

// ParseClaims reads the text of a claim file. name is that of the file, for errors. The rules come sorted and once each.
func ParseClaims(name, text string) ([]Rule, error) {
	var claimed []Rule
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		rules, err := parseClaim(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, number, err)
		}
		claimed = append(claimed, rules...)
	}
	slices.SortFunc(claimed, compare)
	return slices.Compact(claimed), nil
}

func parseClaim(line string) ([]Rule, error) {
	fields := strings.Fields(line)
	subject := fields[0]
	if strings.Trim(subject, "abcdefghijklmnopqrstuvwxyz") != "" {
		return nil, fmt.Errorf("subject %q: want small letters only, as in 'dag 1-34, 36'", subject)
	}
	if len(fields) == 1 {
		return nil, fmt.Errorf("subject %q: no rule numbers follow it", subject)
	}
	var claimed []Rule
	for part := range strings.SplitSeq(strings.Join(fields[1:], ""), ",") {
		first, last, err := parseRange(part)
		if err != nil {
			return nil, fmt.Errorf("subject %q: %w", subject, err)
		}
		for number := first; number <= last; number++ {
			claimed = append(claimed, Rule{Subject: subject, Number: number})
		}
	}
	return claimed, nil
}

// highest keeps a slip of the pen from claiming millions of rules.
const highest = 9999

func parseRange(text string) (first, last int, err error) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	first, errFirst := strconv.Atoi(from)
	last, errLast := strconv.Atoi(to)
	if errFirst != nil || errLast != nil || first < 1 || last < first || last > highest {
		return 0, 0, fmt.Errorf("rules %q: want a number or a range like 1-34", text)
	}
	return first, last, nil
}
